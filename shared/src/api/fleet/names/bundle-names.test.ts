import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { appOfBundleName, bundleNameOf } from "./bundle-names.ts";

test.each([
  ["HelmOp", "web", "web"],
  ["Bundle", "web", "web"],
  ["HelmRelease", "web", "helmrelease-web"],
] as const)("the Bundle of a %s %s is %s", (kind, name, bundle) => {
  assert.equal(bundleNameOf(kind, name), bundle);
});

test.each([
  ["helmrelease-web", { kind: "HelmRelease", name: "web" }],
  ["helmrelease-web-1", { kind: "HelmRelease", name: "web-1" }],
  ["web", { kind: "HelmOp", name: "web" }],
  ["helmop-web", { kind: "HelmOp", name: "helmop-web" }],
] as const)("a Bundle %s is that of an app", (bundle, app) => {
  assert.deepEqual(appOfBundleName(bundle), app);
});

test("a shortened name tells the kind of its app, and not its name", () => {
  const name = "a".repeat(100);
  const app = appOfBundleName(bundleNameOf("HelmRelease", name));
  expect(app.kind).toBe("HelmRelease");
  expect(app.name).not.toBe(name);
});
