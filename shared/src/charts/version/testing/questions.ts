/** Inputs about versions: selected and random ones. */
import * as fc from "fast-check";
import { parseVersion } from "../index.ts";
import { constraintText, groupText, strictVersionText, versionText } from "./arbitraries.ts";
import type { Questions, SelectionQuestion } from "./oracle.ts";
import { constraintRows, selectionRows, versionRows } from "./rows.ts";

/** Twelve at most: with more, which of two equal versions Helm selects depends on its sort. */
const available = fc.array(strictVersionText, { maxLength: 12 });
const partialText = fc.constantFrom("^1", "^2", "~1.1", "2.x", "<3", ">=1.0.0-0", "1 - 2", "!=1.1");
const selection: fc.Arbitrary<SelectionQuestion> = fc.oneof(
  fc.record({
    kind: fc.constant("index" as const),
    available: fc.array(fc.oneof(strictVersionText, versionText), { maxLength: 12 }),
    constraint: fc.oneof(
      strictVersionText,
      partialText,
      constraintText,
      fc.constantFrom("", "*", "latest"),
    ),
  }),
  fc.record({
    kind: fc.constant("tags" as const),
    available: available.map((texts) => texts.map((text) => text.replaceAll("+", "_")).sort()),
    constraint: fc.oneof(strictVersionText, partialText, groupText),
  }),
);

/** All rows; every valid version is compared with every other. */
export function versionRowQuestions(): Questions {
  const readable = versionRows.filter((text) => parseVersion(text) !== undefined);
  return {
    versions: versionRows,
    pairs: allPairs(readable),
    constraints: constraintRows,
    selections: selectionRows,
    yaml: [],
  };
}

/** The given number of constraints, fewer versions, and each constraint checked against each version. */
export function randomVersionQuestions(seed: number, count: number): Questions {
  const draw = <T>(from: fc.Arbitrary<T>, numRuns: number): readonly T[] =>
    fc.sample(from, { seed, numRuns });
  const versions = [...draw(versionText, 60), ...draw(strictVersionText, 20)];
  const readable = versions.filter((text) => parseVersion(text) !== undefined);
  return {
    versions,
    pairs: allPairs(readable.slice(0, 40)),
    constraints: [...draw(constraintText, count / 2), ...draw(groupText, count / 2)],
    selections: draw(selection, count / 4),
    yaml: [],
  };
}

function allPairs(versions: readonly string[]): readonly (readonly [string, string])[] {
  return versions.flatMap((left, at) => versions.slice(at).map((right) => [left, right] as const));
}
