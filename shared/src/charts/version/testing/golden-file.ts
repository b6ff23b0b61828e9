/** Golden files: inputs with the results of Go, as JSON, one line for each; a file per subject. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Answers, goldenDir, type Questions } from "./oracle.ts";

type Area = keyof Questions;
type Rows = Partial<Record<Area, readonly (readonly [question: unknown, answer: unknown])[]>>;

/** Reads a golden file. */
export async function readGolden(
  name: string,
): Promise<{ readonly questions: Questions; readonly answers: Answers }> {
  const rows = JSON.parse(await readFile(fileOf(name), "utf8")) as Rows;
  const column = (at: 0 | 1): Record<Area, readonly unknown[]> => {
    const pick = (area: Area): readonly unknown[] => rows[area]?.map((row) => row[at]) ?? [];
    return {
      versions: pick("versions"),
      pairs: pick("pairs"),
      constraints: pick("constraints"),
      selections: pick("selections"),
      yaml: pick("yaml"),
      styles: pick("styles"),
      values: pick("values"),
      starts: pick("starts"),
    };
  };
  return { questions: column(0) as unknown as Questions, answers: column(1) as Answers };
}

/** Writes a golden file. */
export async function writeGolden(
  name: string,
  questions: Partial<Questions>,
  answers: Answers,
): Promise<void> {
  const areas = (Object.keys(questions) as Area[]).map((area) => {
    const rows =
      questions[area]?.map((question, at) => JSON.stringify([question, answers[area]?.[at]])) ?? [];
    return `${JSON.stringify(area)}: [\n${rows.join(",\n")}\n]`;
  });
  await writeFile(fileOf(name), `{\n${areas.join(",\n")}\n}\n`);
}

function fileOf(name: string): string {
  return join(goldenDir, "generated", `${name}.json`);
}
