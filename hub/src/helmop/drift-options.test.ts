import assert from "node:assert/strict";
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { driftOptionsProblem } from "./drift-options.ts";

describe("rules for drift are accepted", () => {
  const cases: readonly BundleDeploymentOptions[] = [
    {},
    { driftDetection: { mode: "enabled", ignore: [{ paths: [""], target: { name: "web-.*" } }] } },
    {
      diff: {
        comparePatches: [
          { kind: "Deployment", operations: [{ op: "remove", path: "/spec/replicas" }] },
          { name: "web-.*", operations: [{ op: "ignore" }], jsonPointers: ["/spec/a~1b"] },
          { operations: [{ op: null, path: null, value: null }] },
        ],
      },
    },
  ];
  for (const options of cases)
    test(JSON.stringify(options), () => {
      assert.equal(driftOptionsProblem(options), undefined);
    });
});

test("ten thousand rules take no longer than a few, and the problem says what to do", () => {
  const target = { name: "(?:a?){500}", namespace: "(?:b?){500}" };
  const ignore = Array.from({ length: 10_000 }, () => ({ paths: ["/a"], target }));

  assert.match(
    driftOptionsProblem({ driftDetection: { ignore } }) ?? "",
    /^driftDetection\.ignore\[\d{1,2}\]\.target cannot be used: .* write fewer or simpler ones/,
  );
});

describe("rules for drift are rejected", () => {
  const cases: readonly (readonly [options: BundleDeploymentOptions, problem: RegExp])[] = [
    [
      { driftDetection: { ignore: [{ paths: ["/a"] }, { paths: ["/b"], target: { name: "(" } }] } },
      /^driftDetection\.ignore\[1\]\.target cannot be used: name: /,
    ],
    [
      { driftDetection: { ignore: [{ paths: [""], target: { labelSelector: "a=b=c" } }] } },
      /labelSelector: it is no selector/,
    ],
    [
      { diff: { comparePatches: [{ operations: [{ op: "move", path: "/a" }] }] } },
      /^diff\.comparePatches\[0\] has the operation "move", which is none of remove, /,
    ],
    [
      { diff: { comparePatches: [{ operations: [{ path: "/a" }] }] } },
      /has the operation "", which/,
    ],
    [
      { diff: { comparePatches: [{ operations: [{ op: "remove", path: "spec.replicas" }] }] } },
      /has the path "spec\.replicas", which is no JSON pointer/,
    ],
    [{ diff: { comparePatches: [{ jsonPointers: ["a"] }] } }, /has the path "a"/],
    [
      { diff: { comparePatches: [{ name: "(", operations: [{ op: "ignore" }] }] } },
      /^diff\.comparePatches\[0\] cannot be used: name: /,
    ],
  ];
  for (const [options, problem] of cases)
    test(JSON.stringify(options), () => {
      assert.match(driftOptionsProblem(options) ?? "", problem);
    });
});
