import assert from "node:assert/strict";
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createDriftBudget, driftOptionsProblem } from "./drift-options.ts";

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

test("a thousand rules take no longer than a few, and the problem says what to do", () => {
  const target = { name: "(?:a?){500}", namespace: "(?:b?){500}" };
  const ignore = Array.from({ length: 1_000 }, () => ({ paths: ["/a"], target }));

  assert.match(
    driftOptionsProblem({ driftDetection: { ignore } }) ?? "",
    /^driftDetection\.ignore\[\d{1,2}\]\.target cannot be used: .* write fewer or simpler ones/,
  );
});

describe("too many rules are rejected", () => {
  const rules = (length: number) => Array.from({ length }, () => ({ paths: ["/a"] }));
  const patches = Array.from({ length: 1_001 }, () => ({ jsonPointers: ["/a"] }));

  test("of one list, before any is read", () => {
    const ignore = rules(1_001);
    let reads = 0;
    const counted = new Proxy(ignore, {
      get(target, name, receiver) {
        reads += name === "length" ? 0 : 1;
        return Reflect.get(target, name, receiver);
      },
    });

    assert.match(
      driftOptionsProblem({ driftDetection: { ignore: counted } }) ?? "",
      /^driftDetection\.ignore has 1001 entries, more than the limit of 1000: give one rule several/,
    );
    assert.equal(reads, 0);
    assert.match(
      driftOptionsProblem({ diff: { comparePatches: patches } }) ?? "",
      /^diff\.comparePatches has 1001 entries/,
    );
  });

  test("of all targets together", () => {
    const budget = createDriftBudget();
    const problems = Array.from({ length: 11 }, () =>
      driftOptionsProblem({ driftDetection: { ignore: rules(1_000) } }, budget),
    );

    assert.deepEqual(problems.slice(0, 10), Array(10).fill(undefined));
    assert.match(
      problems[10] ?? "",
      /is too long: with all targets there are more than 10000 rules/,
    );
  });
});

describe("rules for drift are rejected", () => {
  const cases: readonly (readonly [options: BundleDeploymentOptions, problem: RegExp])[] = [
    [
      { driftDetection: { ignore: [{ paths: ["/a"] }, { paths: ["/b"], target: { name: "(" } }] } },
      /^driftDetection\.ignore\[1\]\.target cannot be used: name: /,
    ],
    [
      { driftDetection: { ignore: [{ paths: [""], target: { labelSelector: "a=b=c" } }] } },
      /labelSelector: it is not a selector/,
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
      /has the path "spec\.replicas", which is not a JSON pointer/,
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
