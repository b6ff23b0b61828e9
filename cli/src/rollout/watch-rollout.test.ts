import assert from "node:assert/strict";
import { bundles, helmOps } from "@flotilla/shared/api";
import { helmOpLabel } from "@flotilla/shared/api/names";
import { bundleRollouts, rolloutBundleLabel } from "@flotilla/shared/api/rollout";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { test } from "vitest";
import { aRollout } from "./testing/index.ts";
import { watchRollout } from "./watch-rollout.ts";

const namespace = "fleet-default";
const ref = { namespace, name: "web" };

/** A HelmOp that the hub has read, whose Bundle is said to be rolled out by `web-<number>`. */
function serve(number: number) {
  const rest = createMemoryApiServer();
  const accepted = { type: "Accepted", status: "True", observedGeneration: 1 } as const;
  rest.put(helmOps, {
    metadata: { ...ref, uid: "h", generation: 1 },
    spec: {},
    status: { observedGeneration: 1, conditions: [accepted] },
  });
  rest.put(bundles, {
    metadata: { ...ref, uid: "b", generation: 1, labels: { [helmOpLabel]: "web" } },
    spec: {},
    status: {
      observedGeneration: 1,
      rollout: { name: `web-${number}`, phase: "Completed", done: 1, total: 1 },
    },
  });
  function put(of: number, phase: "Completed" | "Cancelled") {
    const rollout = aRollout({ name: `web-${of}`, spec: { number: of }, status: { phase } });
    const metadata = { ...rollout.metadata, labels: { [rolloutBundleLabel]: "web" } };
    rest.put(bundleRollouts, { ...rollout, metadata });
  }
  const shown: string[] = [];
  const watch = () =>
    watchRollout({
      rest,
      app: { kind: "HelmOp", ...ref },
      onChange: ({ metadata }) => void shown.push(metadata.name),
    });
  return { put, shown, watch };
}

test("the end of the newest rollout is waited for", async () => {
  const { put, shown, watch } = serve(2);
  put(1, "Completed");
  put(2, "Cancelled");

  assert.equal(await watch(), "failed");
  assert.deepEqual(shown, ["web-2"]);
});

test("after the newest one was deleted to start again, the one before is not taken for its end", async () => {
  const { put, shown, watch } = serve(2);
  put(1, "Completed");

  const ended = watch();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(shown, []);
  put(3, "Completed");

  assert.equal(await ended, "completed");
  assert.deepEqual(shown, ["web-3"]);
});

test("so it is where none is left", async () => {
  const { put, watch } = serve(1);

  const ended = watch();
  await new Promise((resolve) => setTimeout(resolve, 50));
  put(2, "Cancelled");

  assert.equal(await ended, "failed");
});
