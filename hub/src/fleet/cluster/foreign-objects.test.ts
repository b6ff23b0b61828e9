import assert from "node:assert/strict";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { foreignObjectsIn } from "./foreign-objects.ts";

/** One object of each kind that is listed, made by `manager`. */
function madeBy(manager: string, name = "own") {
  const asked: string[] = [];
  const rest = {
    list({ kind }: Resource<KubeObject>) {
      asked.push(kind);
      const metadata = { name, managedFields: [{ manager }] };
      return Promise.resolve({ items: [{ metadata }], resourceVersion: "1" });
    },
  };
  return { asked, rest: rest as unknown as Pick<KubeRest, "list"> };
}

describe("in the namespace of a deleted Cluster", () => {
  const { signal } = new AbortController();

  test("objects that somebody wrote are found, of each kind", async () => {
    const { asked, rest } = madeBy("kubectl-client-side-apply");
    const found = await foreignObjectsIn(rest, "cluster-a", signal);

    assert.deepEqual(
      found,
      asked.map((kind) => `${kind} own`),
    );
    for (const kind of ["ConfigMap", "Pod", "Deployment", "CronJob", "Ingress", "Role", "HelmOp"])
      assert.ok(asked.includes(kind), kind);
  });

  test("nor does the ServiceAccount that each namespace has", async () => {
    const { rest } = madeBy("somebody", "default");
    const found = await foreignObjectsIn(rest, "cluster-a", signal);
    assert.ok(found.includes("Role default") && !found.includes("ServiceAccount default"));
  });

  test.each(["flotilla-hub", "fleetcontroller", "kube-controller-manager"])(
    "those of %s do not count",
    async (manager) => {
      assert.deepEqual(await foreignObjectsIn(madeBy(manager).rest, "cluster-a", signal), []);
    },
  );
});
