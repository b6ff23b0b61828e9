/** YAML texts to compare with Go: selected and random ones. */
import * as fc from "fast-check";
import { damagedDocument, scalarDocument, yamlDocument } from "./arbitraries.ts";
import { brokenDocumentRows, brokenRows, documentRows, keyRows, scalarRows } from "./rows.ts";

/** Every row as a value, as a key if it is one, in a list, and alone. */
export function yamlRows(): readonly string[] {
  return [
    ...[...scalarRows, ...brokenRows].map((text) => `v: ${text}\n`),
    ...keyRows.map((text) => `${text}: v\n`),
    ...scalarRows.filter((text) => !/^!\S*$/.test(text)).map((text) => `[${text}]\n`),
    ...scalarRows,
    ...documentRows,
    ...brokenDocumentRows,
  ];
}

/** Valid texts, and as many with a random insertion. */
export function randomYaml(
  seed: number,
  count: number,
): { readonly right: readonly string[]; readonly damaged: readonly string[] } {
  const draw = (from: fc.Arbitrary<string>): readonly string[] =>
    fc.sample(from, { seed, numRuns: count });
  return {
    right: [...draw(scalarDocument), ...draw(yamlDocument)],
    damaged: draw(damagedDocument),
  };
}
