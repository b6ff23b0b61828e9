import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aHelmOp, httpPin, testRepository, web } from "../../testing/index.ts";

async function withBundle() {
  const { helmOps } = testRepository(httpPin("1.2.3"));
  helmOps.put(aHelmOp());
  await helmOps.reconcile(web);
  return helmOps;
}

describe("a HelmOp that is deleted", () => {
  test("before it had our finalizer leaves no Bundle, even where the watch is behind", async () => {
    const { helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.deleteUnseen(web);

    await helmOps.reconcile(web);

    assert.equal(helmOps.bundle(web), undefined);
  });

  test.each([
    ["suspended", true],
    ["resumed", false],
  ])("and was %s just before tells that to its Bundle", async (_, suspend) => {
    const { helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp({ suspend: !suspend }));
    await helmOps.reconcile(web);
    const { spec, ...known } = helmOps.helmOp(web);
    helmOps.put({ ...known, spec: { ...spec, suspend } });
    await helmOps.deleteUnseen(web);
    helmOps.catchUp(web);

    await helmOps.reconcile(web);

    assert.equal(helmOps.bundle(web)?.spec.suspend === true, suspend);
  });

  test("stays until its Bundle is deleted", async () => {
    const helmOps = await withBundle();
    await helmOps.deleteUnseen(web);
    helmOps.catchUp(web);

    await helmOps.reconcile(web);

    assert.ok(helmOps.exists(web));
    assert.ok(isBeingDeleted(helmOps.bundle(web)));
    helmOps.removeBundle(web);
    await helmOps.reconcile(web);
    assert.ok(!helmOps.exists(web));
  });

  test("stays until a Bundle is deleted that the leader before created last", async () => {
    const helmOps = await withBundle();
    helmOps.forgetBundle(web);
    await helmOps.deleteUnseen(web);
    helmOps.catchUp(web);

    const result = await helmOps.reconcile(web);

    assert.ok(helmOps.exists(web));
    assert.ok(isBeingDeleted(helmOps.bundle(web)));
    assert.equal(result.kind, "requeue");
  });
});

function isBeingDeleted(bundle: Bundle | undefined): boolean {
  return bundle === undefined || bundle.metadata.deletionTimestamp !== undefined;
}
