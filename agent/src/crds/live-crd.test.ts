import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "@flotilla/shared/kube/object.ts";
import { crdFieldManager, handOverPatch, policyPatch } from "./live-crd.ts";

const policy = "helm.sh/resource-policy";
const release = { namespace: "shop", name: "app" };

interface Crd {
  readonly policy?: string;
  /** Who has set the policy. */
  readonly by?: string;
  readonly owner?: { readonly namespace: string; readonly name: string };
}

function crdOf({ policy: said, by, owner = release }: Crd): KubeObject {
  const metadata = {
    name: "cars.example.com",
    annotations: {
      "meta.helm.sh/release-name": owner.name,
      "meta.helm.sh/release-namespace": owner.namespace,
      ...(said !== undefined && { [policy]: said }),
    },
    managedFields: [
      { manager: "helm", operation: "Apply", fieldsV1: { "f:spec": {} } },
      { manager: crdFieldManager, fieldsV1: { "f:metadata": { "f:annotations": { "f:a": {} } } } },
      { manager: by, fieldsV1: { "f:metadata": { "f:annotations": { [`f:${policy}`]: {} } } } },
    ],
  };
  return { metadata };
}

const other = { namespace: "shop", name: "other" };
const kept = { metadata: { annotations: { [policy]: "keep" } } };
const freed = { metadata: { annotations: { [policy]: null } } };

suite("of a definition in the cluster", () => {
  const cases: readonly (readonly [what: string, crd: Crd, keep: boolean, patch: unknown])[] = [
    ["that is to stay the annotation is set", {}, true, kept],
    [
      "that is to stay nothing is changed twice",
      { policy: "keep", by: crdFieldManager },
      true,
      undefined,
    ],
    [
      "of which somebody has said something else that stays",
      { policy: "delete", by: "kubectl" },
      true,
      undefined,
    ],
    ["that belongs to another release by now it is set, too", { owner: other }, true, kept],
    [
      "that is to go our annotation is taken away",
      { policy: "keep", by: crdFieldManager },
      false,
      freed,
    ],
    ["that is to go somebody else's stays", { policy: "keep", by: "kubectl" }, false, undefined],
    [
      "that is to go with another release ours stays",
      { policy: "keep", by: crdFieldManager, owner: other },
      false,
      undefined,
    ],
    ["that is to go nothing is taken away that is not there", {}, false, undefined],
  ];
  for (const [what, crd, keep, patch] of cases) {
    test(what, () => {
      assert.deepEqual(policyPatch(crdOf(crd), keep, release), patch);
    });
  }

  test("without a word of who manages it, as from an older server, what is there stays", () => {
    const crd = { metadata: { ...crdOf({ policy: "keep" }).metadata, managedFields: undefined } };

    assert.equal(policyPatch(crd, false, release), undefined);
  });

  test("its release is another, where it was the one's that had it", () => {
    const to = { namespace: "new", name: "app2" };

    assert.deepEqual(handOverPatch(crdOf({}), release, to), {
      metadata: {
        annotations: {
          "meta.helm.sh/release-name": "app2",
          "meta.helm.sh/release-namespace": "new",
        },
      },
    });
    assert.equal(handOverPatch(crdOf({ owner: other }), release, to), undefined);
    assert.equal(handOverPatch({ metadata: { name: "free" } }, release, to), undefined);
  });
});
