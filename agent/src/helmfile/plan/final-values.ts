/** The values of a release, from the files and flags of its command, merged as Helm does. */
import { isMap, mergeValues, setValues, type Values } from "@flotilla/shared/values";
import type { RecordedValues } from "../recording/recording.ts";

/** The value of a YAML text; `name`: of it, for messages. Throws for any other text. */
export type ReadValuesFile = (text: string, name: string) => Promise<unknown>;

/** Throws what people are to read; without anything of the values. `release`: for messages. */
export async function finalValues(
  sources: readonly RecordedValues[],
  readFile: ReadValuesFile,
  release: string,
): Promise<Values> {
  const given = (flag: RecordedValues["flag"]) => sources.filter((each) => each.flag === flag);
  let values: Values = {};
  for (const [index, { files }] of given("values").entries())
    for (const bytes of files.values()) {
      const name = `values file ${index + 1} of release ${release}`;
      const read = (await readFile(bytes.toString(), name)) ?? {};
      if (!isMap(read)) throw new Error(`${name}: expected a map`);
      values = mergeValues(values, read);
    }
  const contents = new Map(given("set-file").flatMap(({ files }) => [...files]));
  const kinds = [
    ["set", "typed"],
    ["set-string", "string"],
    ["set-file", { contentOf: (path: string) => contents.get(path)?.toString() ?? "" }],
    ["set-literal", "literal"],
  ] as const;
  for (const [flag, kind] of kinds) {
    const lines = given(flag).map(({ text }) => text);
    const result = setValues(values, lines, kind);
    if (result.kind === "invalid")
      throw new Error(`--${flag} of release ${release}: ${result.problem}`);
    values = result.values;
  }
  return values;
}
