import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { crdFieldManager, policyChange, transferOwnership } from "./live-crd.ts";

const policy = "helm.sh/resource-policy";
const owner = ["meta.helm.sh/release-name", "meta.helm.sh/release-namespace"];
const release = { namespace: "shop", name: "app" };
const other = { namespace: "market", name: "other" };

interface Crd {
  readonly policy?: string;
  readonly of?: { readonly namespace: string; readonly name: string };
  /** The annotations of our field manager. */
  readonly ours?: readonly string[];
  readonly appliedByHelm?: readonly string[];
}

function crdOf({ policy: value, of = release, ours = [], appliedByHelm = owner }: Crd): KubeObject {
  const fieldsOf = (names: readonly string[]) => ({
    "f:metadata": { "f:annotations": Object.fromEntries(names.map((name) => [`f:${name}`, {}])) },
  });
  const metadata = {
    name: "cars.example.com",
    annotations: {
      "meta.helm.sh/release-name": of.name,
      "meta.helm.sh/release-namespace": of.namespace,
      ...(value !== undefined && { [policy]: value }),
    },
    managedFields: [
      { manager: "kube-apiserver", operation: "Update", fieldsV1: { "f:status": {} } },
      { manager: "helm", operation: "Apply", fieldsV1: fieldsOf(["."].concat(appliedByHelm)) },
      ...(ours.length === 0 ? [] : [{ manager: crdFieldManager, fieldsV1: fieldsOf(ours) }]),
    ],
  };
  return { metadata };
}

const keep = { [policy]: "keep" };
const transferred = {
  "meta.helm.sh/release-name": "app",
  "meta.helm.sh/release-namespace": "shop",
};

describe("the annotations of a definition in the cluster", () => {
  const cases: readonly (readonly [what: string, crd: Crd, keep: boolean, own: unknown])[] = [
    ["include the policy if the definition is kept", {}, true, keep],
    ["do not change if the policy is applied", { policy: "keep", ours: [policy] }, true, undefined],
    [
      "do not change if another field manager has set a policy",
      { policy: "delete" },
      true,
      undefined,
    ],
    ["include the policy for a definition of another release", { of: other }, true, keep],
    [
      "lose the policy if the definition is not kept",
      { policy: "keep", ours: [policy] },
      false,
      {},
    ],
    ["keep a policy of another field manager", { policy: "keep" }, false, undefined],
    [
      "keep the policy if another release owns it",
      { policy: "keep", ours: [policy], of: other },
      false,
      undefined,
    ],
    ["do not change without a policy", {}, false, undefined],
    [
      "drop the transferred owner once Helm has applied it",
      { policy: "keep", ours: [policy, ...owner] },
      true,
      keep,
    ],
    [
      "keep the transferred owner until Helm has applied it",
      { policy: "keep", ours: [policy, ...owner], appliedByHelm: [] },
      true,
      undefined,
    ],
    [
      "keep the transferred owner if the definition is not kept",
      { policy: "keep", ours: [policy, ...owner], appliedByHelm: [] },
      false,
      transferred,
    ],
  ];
  for (const [what, crd, isKept, own] of cases) {
    test(what, () => {
      assert.deepEqual(policyChange(crdOf(crd), isKept, release), own);
    });
  }

  test("do not change without managedFields", () => {
    const crd = { metadata: { ...crdOf({ policy: "keep" }).metadata, managedFields: undefined } };

    assert.equal(policyChange(crd, false, release), undefined);
  });

  test("name the new release if the current owner transfers the definition", () => {
    assert.deepEqual(transferOwnership(crdOf({}), other, release), undefined);
    assert.deepEqual(transferOwnership(crdOf({ of: other }), other, release), transferred);
    assert.deepEqual(transferOwnership(crdOf({ of: other, ours: [policy] }), other, release), {
      ...keep,
      ...transferred,
    });
    assert.equal(transferOwnership({ metadata: { name: "free" } }, other, release), undefined);
  });
});
