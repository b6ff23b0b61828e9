import assert from "node:assert/strict";
import { bundles, helmOps } from "@flotilla/shared/api";
import { helmOpLabel } from "@flotilla/shared/api/names";
import { bundleRollouts, rolloutBundleLabel } from "@flotilla/shared/api/rollout";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { test } from "vitest";
import { aRollout } from "./testing/index.ts";
import { watchRollout } from "./watch-rollout.ts";

const namespace = "fleet-default";
const ref = { namespace, name: "web" };

/** A HelmOp that the hub has read, whose Bundle is said to be rolled out by `web-<number>`. */
function serve(number: number) {
  const server = createMemoryApiServer();
  const accepted = { type: "Accepted", status: "True", observedGeneration: 1 } as const;
  server.put(helmOps, {
    metadata: { ...ref, uid: "h", generation: 1 },
    spec: {},
    status: { observedGeneration: 1, conditions: [accepted] },
  });
  const says = (of: number) =>
    server.put(bundles, {
      metadata: { ...ref, uid: "b", generation: 1, labels: { [helmOpLabel]: "web" } },
      spec: {},
      status: {
        observedGeneration: 1,
        rollout: { name: `web-${of}`, phase: "Completed", done: 1, total: 1 },
      },
    });
  says(number);
  function put(of: number, phase: "Completed" | "Cancelled" | "Progressing") {
    const rollout = aRollout({ name: `web-${of}`, spec: { number: of }, status: { phase } });
    const metadata = { ...rollout.metadata, labels: { [rolloutBundleLabel]: "web" } };
    server.put(bundleRollouts, { ...rollout, metadata });
  }
  const shown: string[] = [];
  /** Each resource that is watched, once its list is known. */
  const watching = Promise.withResolvers<void>();
  const plurals = new Set<string>();
  const rest: KubeRest = {
    ...server,
    watch(resource, options) {
      plurals.add(resource.plural);
      if (plurals.has(bundleRollouts.plural) && plurals.has(bundles.plural)) watching.resolve();
      return server.watch(resource, options);
    },
  };
  const watch = (own: Partial<KubeRest> = {}) =>
    watchRollout({
      rest: { ...rest, ...own },
      app: { kind: "HelmOp", ...ref },
      onChange: ({ metadata, status }) => void shown.push(`${metadata.name} ${status?.phase}`),
    });
  return { says, put, shown, watch, listed: watching.promise, server };
}

test("the end of the newest rollout is waited for", async () => {
  const { put, shown, watch } = serve(2);
  put(1, "Completed");
  put(2, "Cancelled");

  assert.equal(await watch(), "failed");
  assert.deepEqual(shown, ["web-2 Cancelled"]);
});

test("after the newest one was deleted to start again, the one before is not taken for its end", async () => {
  const { says, put, shown, watch, listed } = serve(2);
  put(1, "Completed");

  const ended = watch();
  await listed;
  put(3, "Progressing");
  says(3);
  put(3, "Completed");

  assert.equal(await ended, "completed");
  assert.deepEqual(
    shown.filter((each) => each.startsWith("web-1")),
    [],
  );
});

test("so it is where none is left", async () => {
  const { says, put, watch, listed } = serve(1);

  const ended = watch();
  await listed;
  put(2, "Cancelled");
  says(2);

  assert.equal(await ended, "failed");
});

test("one that has started again and ended before the Bundle says so is waited for no longer than that", async () => {
  const { says, put, watch, listed } = serve(2);
  put(1, "Completed");
  put(3, "Completed");

  const ended = watch();
  await listed;
  says(3);

  assert.equal(await ended, "completed");
});

test("rollouts that may not be read are said at once", async () => {
  const { put, watch, server } = serve(1);
  put(1, "Completed");

  const ended = watch({
    list: (resource, options) =>
      resource.plural === bundleRollouts.plural
        ? Promise.reject(new KubeStatusError("forbidden", { status: 403, reason: "Forbidden" }))
        : server.list(resource, options),
  });

  await assert.rejects(ended, /forbidden/);
});
