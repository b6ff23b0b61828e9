/** On an API server in memory; e2e/src/agent/refused-charts.test.ts has the same on a real one. */
import assert from "node:assert/strict";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import type { StoredRelease } from "../../helm/record/stored-release.ts";
import type { Refused } from "../../state/inventory/inventory-secret.ts";
import { replaceObjects } from "./replace-objects.ts";

const record: ReleaseRecord = {
  ...{
    namespace: "shop",
    name: "web",
    revision: 2,
    status: "failed",
    isOwn: true,
    modifiedAtMs: 0,
  },
};
const desired = {
  owner: { id: "web", name: "web", uid: "1" },
  namespace: "shop",
  name: "web",
  digest: "d",
};

function config(name: string, data: object, release = "web"): KubeObject {
  const object: KubeObject & { readonly data: object } = {
    ...{ apiVersion: "v1", kind: "ConfigMap", data },
    metadata: {
      ...{ namespace: "shop", name },
      annotations: {
        "meta.helm.sh/release-name": release,
        "meta.helm.sh/release-namespace": "shop",
      },
    },
  };
  return object;
}

interface SetUp {
  /** What the API server answers to a dry run of a creation. */
  readonly dryRun?: Error;
  /** The record is not the one that the agent knows. */
  readonly isTampered?: boolean;
}

function setUp({ dryRun, isTampered = false }: SetUp = {}) {
  const server = createMemoryApiServer();
  const dryRuns: string[] = [];
  const rest: KubeRest = {
    ...server,
    async create(resource, object, options = {}) {
      if (options.dryRun !== true) return await server.create(resource, object, options);
      dryRuns.push(object.metadata.name);
      if (dryRun !== undefined) throw dryRun;
      return object;
    },
  };
  let refused: Refused | undefined;
  const release: StoredRelease = {
    ...{ namespace: "shop", name: "web", revision: 2, status: "failed", manifest: "" },
    ...{
      content: "c",
      tests: [],
      hooks: [],
      chartName: "web",
      chartVersion: "1.0.0",
      appVersion: "",
    },
  };
  const documents = ["a", "b"].map((name) => config(name, { version: "2" }));
  const clock = createFakeClock();
  const run = (names: readonly string[], digest = "d") =>
    replaceObjects(
      {
        stored: { read: () => Promise.resolve(release) },
        records: { wholeObjects: () => Promise.resolve(documents) },
        inventory: {
          revisionOf: () => ({ revision: 2, content: isTampered ? "other" : "c" }),
        },
        attempts: {
          refusedOf: () => refused,
          setRefused(_, next) {
            refused = next;
            return Promise.resolve();
          },
        },
        ...{ clock, log: silentLog() },
      },
      { desired, client: { rest } },
      {
        ...{ record, digest, signal: new AbortController().signal },
        refusals: names.map((name) => ({ object: { kind: "ConfigMap", name }, field: "data" })),
      },
    );
  return { server, clock, run, dryRuns, refusedNow: () => refused };
}

test("objects are deleted one after the other, and named, and Helm creates them", async () => {
  const { server, run, dryRuns, refusedNow } = setUp();
  for (const name of ["a", "b"]) server.put(configMaps, config(name, { version: "1" }));

  assert.equal(await run(["a", "b"]), undefined);

  // What the record of the failed run says about them is never created: others may have written it.
  assert.deepEqual(server.writes, ["delete configmaps shop/a", "delete configmaps shop/b"]);
  assert.deepEqual(refusedNow(), { digest: "d", replaced: ["ConfigMap a", "ConfigMap b"] });
  assert.deepEqual(dryRuns, ["flotilla-check", "flotilla-check"]);
});

test("an object is replaced once for a content, and again for another one", async () => {
  const { server, run } = setUp();
  server.put(configMaps, config("a", { version: "1" }));
  assert.equal(await run(["a"]), undefined);
  server.put(configMaps, config("a", { version: "2" }));

  assert.match(String(await run(["a"])), /ConfigMap a was deleted and created again before/);
  assert.equal(await run(["a"], "d2"), undefined);
});

test("an object that is gone already is left to Helm", async () => {
  const { server, run } = setUp();
  assert.equal(await run(["a"]), undefined);
  assert.deepEqual(server.writes, []);
});

test("nothing is deleted if one of the objects belongs to another release", async () => {
  const { server, run } = setUp();
  server.put(configMaps, config("a", { version: "1" }));
  server.put(configMaps, config("b", { version: "1" }, "other"));

  assert.match(String(await run(["a", "b"])), /^ConfigMap b does not belong to the release$/);
  assert.deepEqual(server.writes, []);
});

test("nothing is deleted that could not be created again", async () => {
  const denied = new KubeStatusError("create: 403: no", { status: 403, reason: "Forbidden" });
  const { server, run } = setUp({ dryRun: denied });
  server.put(configMaps, config("a", { version: "1" }));

  assert.match(
    String(await run(["a"])),
    /ConfigMap a was not deleted, because .*: create: 403: no/,
  );
  assert.deepEqual(server.writes, []);
});

test("nothing is deleted by a record that somebody has changed", async () => {
  const { server, run } = setUp({ isTampered: true });
  server.put(configMaps, config("a", { version: "1" }));

  assert.match(String(await run(["a"])), /somebody has changed the record/);
  assert.deepEqual(server.writes, []);
});

test("an object that finalizers keep is waited for, and then reported", async () => {
  const { server, clock, run } = setUp();
  const kept = config("a", { version: "1" });
  server.put(configMaps, { ...kept, metadata: { ...kept.metadata, finalizers: ["a.com/b"] } });

  const running = run(["a"]);
  await clock.advance(31_000);

  assert.match(String(await running), /ConfigMap a is being deleted, and finalizers keep it/);
});
