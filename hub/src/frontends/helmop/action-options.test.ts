import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { actionOptionsProblem } from "./action-options.ts";

type Options = Parameters<typeof actionOptionsProblem>[0];

describe("options of actions", () => {
  const accepted: readonly (readonly [string, Options, Options?])[] = [
    ["without any", {}],
    [
      "that retry after an interval",
      { install: { strategy: { name: "RetryOnFailure", retryInterval: "1m" } } },
    ],
    ["that remediate", { upgrade: { strategy: { name: "RemediateOnFailure" } } }],
    ["that keep records where they are anyway", { namespace: "apps", storageNamespace: "apps" }],
    [
      "of a target that moves both",
      { namespace: "b", storageNamespace: "b" },
      { namespace: "a", storageNamespace: "a" },
    ],
  ];
  for (const [what, options, base] of accepted)
    test(`${what} are accepted`, () =>
      assert.equal(actionOptionsProblem(options, base), undefined));

  test("an interval without retries is rejected", () => {
    const problem = actionOptionsProblem({
      upgrade: { strategy: { name: "RemediateOnFailure", retryInterval: "1m" } },
    });

    assert.match(
      problem ?? "",
      /^upgrade\.strategy\.retryInterval can only be set with the name RetryOnFailure/,
    );
  });

  test("records in another namespace are rejected", () => {
    const problem = actionOptionsProblem(
      { storageNamespace: "flux-system" },
      { namespace: "apps" },
    );

    assert.match(
      problem ?? "",
      /^storageNamespace is flux-system, but .* namespace of the release, apps/,
    );
  });
});
