import assert from "node:assert/strict";
import type { ManagedFieldsEntry } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { isCreatedByHub, isForeign } from "./created-namespace.ts";

const labels = (...names: readonly string[]) => ({
  "f:metadata": { "f:labels": Object.fromEntries(names.map((name) => [`f:${name}`, {}])) },
});
const created = labels("kubernetes.io/metadata.name", "fleet.cattle.io/managed");
const labelled = labels("fleet.cattle.io/managed");

const rows: readonly (readonly [
  what: string,
  managedFields: readonly ManagedFieldsEntry[],
  isCreated: boolean,
])[] = [
  ["one that the hub created", [{ manager: "flotilla-hub", fieldsV1: created }], true],
  ["one that Fleet's hub created", [{ manager: "fleetcontroller", fieldsV1: created }], true],
  [
    "one that the hub created, and a user has changed",
    [
      { manager: "flotilla-hub", fieldsV1: created },
      { manager: "kubectl-label", fieldsV1: labelled },
    ],
    true,
  ],
  [
    "one that a user created, and the hub has labelled",
    [
      { manager: "kubectl-create", fieldsV1: created },
      { manager: "flotilla-hub", fieldsV1: labelled },
    ],
    false,
  ],
  ["one that only has the label", [], false],
];

test.for(rows)("a namespace: %s", ([, managedFields, isCreated]) => {
  const namespace = {
    metadata: { name: "ns", labels: { "fleet.cattle.io/managed": "true" }, managedFields },
  };

  assert.equal(isCreatedByHub(namespace), isCreated);
});

test("an object is foreign unless only the hub and Kubernetes have written it", () => {
  const written = (...managers: readonly string[]) => ({
    metadata: { name: "a", managedFields: managers.map((manager) => ({ manager })) },
  });

  assert.equal(isForeign(written("flotilla-hub")), false);
  assert.equal(isForeign(written("kube-controller-manager")), false);
  assert.equal(isForeign(written("flotilla-hub", "kubectl")), true);
  assert.equal(isForeign(written()), true);
});
