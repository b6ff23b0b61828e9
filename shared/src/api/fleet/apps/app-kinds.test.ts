import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { appDefinition, appKinds, frontEndKinds, isAppKind, isOriginKind } from "./app-kinds.ts";
import { appInLabels, isMadeFor } from "./bundle-labels.ts";
import { helmOpLabel, helmReleaseLabel } from "./labels.ts";

describe("the kinds of app", () => {
  test("are known by the kind of their objects", () => {
    for (const kind of appKinds) assert.equal(appDefinition(kind).resource.kind, kind);
    assert.ok(isAppKind("HelmOp"));
    for (const other of ["Cluster", "helmop", "toString", ""]) assert.ok(!isAppKind(other));
  });

  test("have Bundles of their own that a label tells apart, but for Bundles", () => {
    assert.deepEqual(frontEndKinds, ["HelmOp", "HelmRelease"]);
    const labels = frontEndKinds.map((kind) => appDefinition(kind).label);
    assert.equal(new Set(labels).size, frontEndKinds.length);
  });

  test("are named in the origin of their Bundles where these count only while the app exists", () => {
    assert.deepEqual(appKinds.filter(isOriginKind), ["HelmRelease"]);
  });
});

test.each([
  ["a HelmOp with the label of its name", "HelmOp", { [helmOpLabel]: "web" }, true],
  ["no HelmOp with the label of another one", "HelmOp", { [helmOpLabel]: "db" }, false],
  ["no HelmOp without a label", "HelmOp", undefined, false],
  [
    "a HelmRelease with whatever its label has: a long name is shortened there",
    "HelmRelease",
    { [helmReleaseLabel]: "w" },
    true,
  ],
  ["no HelmRelease with the label of a HelmOp", "HelmRelease", { [helmOpLabel]: "web" }, false],
  ["itself", "Bundle", undefined, true],
  ["itself, also one of a HelmOp", "Bundle", { [helmOpLabel]: "web" }, true],
] as const)("a Bundle is made for %s", (_what, kind, labels, expected) => {
  assert.equal(isMadeFor(labels, kind, "web"), expected);
});

test.each([
  ["a HelmOp", { [helmOpLabel]: "web" }, { kind: "HelmOp", name: "web" }],
  ["a HelmRelease", { [helmReleaseLabel]: "web" }, { kind: "HelmRelease", name: "web" }],
  [
    "the first kind where somebody has set both",
    { [helmReleaseLabel]: "db", [helmOpLabel]: "web" },
    { kind: "HelmOp", name: "web" },
  ],
  ["nothing without labels", undefined, undefined],
  ["nothing with labels of others", { app: "web" }, undefined],
] as const)("the labels of a Bundle name %s", (_what, labels, expected) => {
  assert.deepEqual(appInLabels(labels), expected);
});
