/** The histories find a fault in each rule: what they say about the step without faults is worth as much as this. */
import assert from "node:assert/strict";
import { seed as first } from "@flotilla/shared/testing";
import { describe, test } from "vitest";
import { type Mutation, mutations, randomHistory } from "./testing/index.ts";

/** Within so many fleets. */
const fleets = 3_000;

/** What the invariant of the rule says about the first fleet that it finds; undefined: it finds none. */
function findingOf({ plant, invariant }: Mutation): string | undefined {
  for (let index = 0; index < fleets; index += 1)
    try {
      randomHistory((first + index) >>> 0, plant);
    } catch (error) {
      const finding = String(error);
      if (finding.includes(`: ${invariant}: `)) return finding;
    }
  return undefined;
}

describe(`within ${fleets} fleets the histories find that`, () => {
  for (const mutation of mutations)
    test(`${mutation.fault} (invariant ${mutation.invariant})`, { timeout: 120_000 }, () => {
      assert.notEqual(findingOf(mutation), undefined);
    });
});
