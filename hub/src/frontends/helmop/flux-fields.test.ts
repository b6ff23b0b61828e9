import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { aRelease } from "../../testing/index.ts";
import { fluxFieldProblem } from "./flux-fields.ts";
import { validate } from "./validate.ts";

const rejected: readonly (readonly [field: string, value: unknown, problem: RegExp])[] = [
  [
    "kubeConfig",
    { secretRef: { name: "paris" } },
    /^kubeConfig .* select the clusters with targets/,
  ],
  ["postRenderStrategy", "nohooks", /^postRenderStrategy .* \(combined\): remove it/],
  ["serviceAccountName", "deployer", /^serviceAccountName .*: set serviceAccount$/],
  ["targetNamespace", "shop", /^targetNamespace .*: set namespace$/],
  ["valuesFrom", [{ kind: "Secret", name: "values" }], /^valuesFrom .*: set helm\.valuesFrom$/],
  ["waitStrategy", { name: "legacy" }, /^waitStrategy .* \(poller\): remove it/],
];

describe("fields of a HelmRelease", () => {
  for (const [field, value, problem] of rejected)
    test(`reject ${field}`, () => {
      assert.match(fluxFieldProblem({ [field]: value }) ?? "", problem);
    });

  test.each([
    ["the strategy that applies anyway", { postRenderStrategy: "combined" }],
    ["the wait that applies anyway", { waitStrategy: { name: "poller" } }],
    ["an empty one", { targetNamespace: null }],
    ["others, which are remarks", { interval: "5m" }],
  ])("accept %s", (_, options) => {
    assert.equal(fluxFieldProblem(options), undefined);
  });

  test("are rejected in a HelmOp, and in a target with its place", () => {
    const field: object = { serviceAccountName: "deployer" };

    assert.match(validate(aRelease(field))?.message ?? "", /^spec\.serviceAccountName /);
    assert.match(
      validate(aRelease({ targets: [{}, field] }))?.message ?? "",
      /^spec\.targets\[1\]\.serviceAccountName /,
    );
  });
});
