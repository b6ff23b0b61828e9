import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import { describe, test } from "vitest";
import { crdFieldManager, handOver, policyChange } from "./live-crd.ts";

const policy = "helm.sh/resource-policy";
const owner = ["meta.helm.sh/release-name", "meta.helm.sh/release-namespace"];
const release = { namespace: "shop", name: "app" };
const other = { namespace: "market", name: "other" };

interface Crd {
  readonly policy?: string;
  readonly of?: { readonly namespace: string; readonly name: string };
  /** Which annotations we have applied. */
  readonly ours?: readonly string[];
  readonly helms?: readonly string[];
}

function crdOf({ policy: said, of = release, ours = [], helms = owner }: Crd): KubeObject {
  const fieldsOf = (names: readonly string[]) => ({
    "f:metadata": { "f:annotations": Object.fromEntries(names.map((name) => [`f:${name}`, {}])) },
  });
  const metadata = {
    name: "cars.example.com",
    annotations: {
      "meta.helm.sh/release-name": of.name,
      "meta.helm.sh/release-namespace": of.namespace,
      ...(said !== undefined && { [policy]: said }),
    },
    managedFields: [
      { manager: "kube-apiserver", operation: "Update", fieldsV1: { "f:status": {} } },
      { manager: "helm", operation: "Apply", fieldsV1: fieldsOf(["."].concat(helms)) },
      ...(ours.length === 0 ? [] : [{ manager: crdFieldManager, fieldsV1: fieldsOf(ours) }]),
    ],
  };
  return { metadata };
}

const keep = { [policy]: "keep" };
const given = {
  "meta.helm.sh/release-name": "app",
  "meta.helm.sh/release-namespace": "shop",
};

describe("of a definition in the cluster", () => {
  const cases: readonly (readonly [what: string, crd: Crd, keep: boolean, own: unknown])[] = [
    ["that is to stay the annotation is applied", {}, true, keep],
    [
      "that is to stay nothing is applied twice",
      { policy: "keep", ours: [policy] },
      true,
      undefined,
    ],
    ["of which somebody has said something that stays", { policy: "delete" }, true, undefined],
    ["that belongs to another release by now it is applied, too", { of: other }, true, keep],
    ["that is to go ours is taken away", { policy: "keep", ours: [policy] }, false, {}],
    ["that is to go somebody else's stays", { policy: "keep" }, false, undefined],
    [
      "that is to go with another release ours stays",
      { policy: "keep", ours: [policy], of: other },
      false,
      undefined,
    ],
    ["that is to go nothing is taken away that is not there", {}, false, undefined],
    [
      "that was handed over its release is left to Helm once that has applied it",
      { policy: "keep", ours: [policy, ...owner] },
      true,
      keep,
    ],
    [
      "that was handed over its release stays as long as nobody else has applied it",
      { policy: "keep", ours: [policy, ...owner], helms: [] },
      true,
      undefined,
    ],
    [
      "that was handed over and is to go its release stays",
      { policy: "keep", ours: [policy, ...owner], helms: [] },
      false,
      given,
    ],
  ];
  for (const [what, crd, isToStay, own] of cases) {
    test(what, () => {
      assert.deepEqual(policyChange(crdOf(crd), isToStay, release), own);
    });
  }

  test("without a word of who manages it what is there stays", () => {
    const crd = { metadata: { ...crdOf({ policy: "keep" }).metadata, managedFields: undefined } };

    assert.equal(policyChange(crd, false, release), undefined);
  });

  test("its release is another, where it was the one's that had it", () => {
    assert.deepEqual(handOver(crdOf({}), other, release), undefined);
    assert.deepEqual(handOver(crdOf({ of: other }), other, release), given);
    assert.deepEqual(handOver(crdOf({ of: other, ours: [policy] }), other, release), {
      ...keep,
      ...given,
    });
    assert.equal(handOver({ metadata: { name: "free" } }, other, release), undefined);
  });
});
