import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { isConflict, isGone, isNotFound } from "../client/index.ts";
import type { Deployment } from "../objects/core-resources.ts";
import { type ConfigMap, configMaps, deployments } from "../objects/index.ts";
import { createMemoryApiServer } from "./memory-api-server.ts";
import { matchesSelection } from "./selectors.ts";

const ref = { namespace: "ns", name: "a" };

describe("the API server in memory", () => {
  it("keeps a deleted object until its finalizers are removed, and accepts no new ones", async () => {
    const server = createMemoryApiServer();
    const created = await server.create(configMaps, {
      metadata: { ...ref, finalizers: ["x", "y"] },
    });

    await server.delete(configMaps, ref);
    const patch = (finalizers: readonly string[]) =>
      server.patch(configMaps, ref, { type: "merge", body: { metadata: { finalizers } } });

    await assert.rejects(patch(["x", "y", "z"]), /no new finalizers/);
    assert.notEqual((await patch(["x"])).metadata.deletionTimestamp, undefined);
    assert.deepEqual((await patch([])).metadata.finalizers, []);
    assert.equal(await server.get(configMaps, ref), undefined);
    await assert.rejects(patch([]), isNotFound);
    await assert.rejects(server.replace(configMaps, created), isNotFound);
  });

  it("rejects writes of an older version or of another object", async () => {
    const server = createMemoryApiServer();
    const created = await server.create(configMaps, { metadata: ref });
    const body = { metadata: { resourceVersion: created.metadata.resourceVersion } };
    await server.replace(configMaps, created);

    await assert.rejects(server.replace(configMaps, created), isConflict);
    await assert.rejects(server.patch(configMaps, ref, { type: "merge", body }), isConflict);
    await assert.rejects(server.delete(configMaps, ref, { uid: "another" }), isConflict);
  });

  it("counts generations of the spec, and writes status separately", async () => {
    const server = createMemoryApiServer();
    const spec = { replicas: 1, selector: {}, template: {} };
    const written: Deployment = { metadata: ref, spec, status: { replicas: 7 } };
    const created = await server.create(deployments, written);
    assert.deepEqual([created.metadata.generation, created.status], [1, undefined]);

    const updated = await server.replace(
      deployments,
      { ...created, spec: { ...spec, replicas: 9 }, status: { replicas: 1 } },
      { subresource: "status" },
    );
    assert.deepEqual(
      [updated.metadata.generation, updated.spec?.replicas, updated.status?.replicas],
      [1, 1, 1],
    );
    const scaled = await server.replace(deployments, {
      ...updated,
      spec: { ...spec, replicas: 2 },
    });
    assert.deepEqual([scaled.metadata.generation, scaled.status?.replicas], [2, 1]);
  });

  it("watches from a version, through a selector, until history is compacted", async () => {
    const server = createMemoryApiServer();
    const labelled = (value: string): ConfigMap => ({ metadata: { ...ref, labels: { a: value } } });
    server.put(configMaps, labelled("b"));
    const { resourceVersion } = await server.list(configMaps);
    for (const value of ["c", "b", "b"]) server.put(configMaps, labelled(value));
    server.remove(configMaps, ref);
    const options = { resourceVersion, timeoutSeconds: 300, labelSelector: "a=b" };

    const seen: string[] = [];
    for await (const { type } of server.watch(configMaps, options)) {
      seen.push(type);
      if (seen.length === 4) break;
    }
    server.compact();

    assert.deepEqual(seen, ["DELETED", "ADDED", "MODIFIED", "DELETED"]);
    const late = server.watch(configMaps, options)[Symbol.asyncIterator]();
    await assert.rejects(late.next(), isGone);
  });
});

describe("a selector", () => {
  const object = { metadata: { ...ref, labels: { tier: "web", env: "prod" } } };
  const cases: readonly (readonly [labelSelector: string, matches: boolean])[] = [
    ["", true],
    ["tier=web,env=prod", true],
    ["tier==web,env=test", false],
    ["tier!=web", false],
    ["other!=web", true],
    ["env in (test, prod),tier", true],
    ["env notin (test,prod)", false],
    ["!tier", false],
    ["!other", true],
  ];

  for (const [labelSelector, matches] of cases)
    it(`"${labelSelector}" ${matches ? "matches" : "does not match"}`, () => {
      assert.equal(matchesSelection(object, { labelSelector }), matches);
    });

  it("of fields matches name and namespace", () => {
    assert.equal(matchesSelection(object, { fieldSelector: "metadata.name=a" }), true);
    assert.equal(matchesSelection(object, { fieldSelector: "metadata.namespace!=ns" }), false);
  });
});
