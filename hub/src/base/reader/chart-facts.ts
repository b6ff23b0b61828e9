/** What the hub needs of a Chart.yaml, whatever else is in it. Pure. */
import { dependencyRepositories, parseChartMetadata } from "@flotilla/shared/source/chartbuild";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";
import type { ReaderTask } from "./reader-task.ts";

export const chartFactsSchema = z.object({
  /** Absent: it has none that is a text. */
  name: z.string().exactOptional(),
  version: z.string().exactOptional(),
  /** The addresses of the repositories that it has dependencies from. */
  repositories: z.array(z.string()),
});

export type ChartFacts = Readonly<z.infer<typeof chartFactsSchema>>;

/** Longest name and version that are of any use; what exceeds it is left out. */
const maxCharacters = 1_024;

/** A file that cannot be read has none of them; agents report it when they make the chart. */
export function chartFactsOf({ chart, requirements }: ReaderTask): ChartFacts {
  const fields = fieldsOf(chart);
  const { name, version } = fields;
  return {
    ...(isShort(name) && { name }),
    ...(isShort(version) && { version }),
    repositories: [...repositoriesOf(chart, requirements)],
  };
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxCharacters;
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed = parseHelmYaml(text, { name: "Chart.yaml" });
    return typeof parsed === "object" && parsed !== null
      ? (parsed as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}

function repositoriesOf(chart: string, requirements: string | undefined): readonly string[] {
  try {
    return dependencyRepositories(parseChartMetadata(chart, { requirements }));
  } catch {
    return [];
  }
}
