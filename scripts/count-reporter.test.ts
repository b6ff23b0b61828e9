import assert from "node:assert/strict";
import { test } from "vitest";
import { type CountedModule, countLine } from "./count-reporter.ts";

interface Counts {
  readonly passed?: number;
  readonly failed?: number;
  /** Errors while the file was loaded. */
  readonly errors?: number;
  /** Errors in the hooks of its suite. */
  readonly suiteErrors?: number;
}

function aModule({ passed = 0, failed = 0, errors = 0, suiteErrors = 0 }: Counts): CountedModule {
  return {
    errors: () => Array(errors).fill("error"),
    children: {
      allTests: (state) => Array(state === "passed" ? passed : failed).fill("test"),
      allSuites: () => [{ errors: () => Array(suiteErrors).fill("error") }],
    },
  };
}

const cases: readonly (readonly [
  name: string,
  modules: readonly Counts[],
  unhandled: number,
  line: string,
])[] = [
  ["no tests", [], 0, "0 passed, 0 failed"],
  ["the tests of all files", [{ passed: 2 }, { passed: 3, failed: 1 }], 0, "5 passed, 1 failed"],
  [
    "a file that cannot be loaded as a failure",
    [{ passed: 1 }, { errors: 1 }],
    0,
    "1 passed, 1 failed",
  ],
  ["a hook that fails as a failure", [{ passed: 1, suiteErrors: 1 }], 0, "1 passed, 1 failed"],
  ["an unhandled error as a failure", [{ passed: 1 }], 1, "1 passed, 1 failed"],
];

for (const [name, modules, unhandled, line] of cases)
  test(`the last line of a run counts ${name}`, () => {
    assert.equal(countLine(modules.map(aModule), Array(unhandled).fill("error")), line);
  });
