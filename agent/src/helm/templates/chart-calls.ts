/** Finds what the templates of a chart call. Runs in a reader, a process of its own: the bytes are a tenant's. */
import type { ChartFile } from "@flotilla/shared/source/cache";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";
import { readChartTemplates } from "./chart-templates.ts";
import {
  callsInText,
  callsInValues,
  type OutsideCalls,
  outsideFunctions,
  type TemplateFile,
  templateCalls,
} from "./template-calls.ts";

/** By function: the path of a template that calls it. */
export const callsSchema = z.object({
  lookup: z.string().exactOptional(),
  getHostByName: z.string().exactOptional(),
});

/** What the guard needs to know of a chart. */
export const chartCallsSchema = z.object({
  calls: callsSchema,
  rendersValues: z.boolean(),
  /** It may have hooks that run after the objects are installed, with these values or others. */
  hasPostHooks: z.boolean(),
  /** Both of its Chart.yaml. */
  name: z.string(),
  version: z.string(),
});
export type ChartCalls = Readonly<z.infer<typeof chartCallsSchema>>;

/** Throws CHART_UNREADABLE. */
export async function readChartCalls(
  chart: Pick<ChartFile, "path" | "digest">,
): Promise<ChartCalls> {
  const { templates, values, files, name, version } = await readChartTemplates(chart);
  const { calls, rendersValues, rendersFiles } = templateCalls(templates);
  const rendered = [
    ...(rendersValues ? values.map(callsInValuesFile) : []),
    ...(rendersFiles ? files.map(({ path, text }) => callsInText(text, path)) : []),
  ];
  const hasPostHooks = [...templates, ...values, ...files].some(({ text }) =>
    mayHavePostHooks(text),
  );
  const found = [calls, ...rendered].reduce(both);
  return { calls: found, rendersValues, hasPostHooks, name, version };
}

/** Whether a text can be, or be rendered to, a hook that runs after the objects are installed. */
export function mayHavePostHooks(text: string): boolean {
  return /post-(install|upgrade)|helm\.sh\/hook["']?\s*:\s*["']?\{\{/.test(text);
}

/** Parses the file only if it contains the name of a function, because YAML is slow to parse. */
function callsInValuesFile({ path, text }: TemplateFile): OutsideCalls {
  if (!outsideFunctions.some((name) => text.includes(name))) return {};
  try {
    return callsInValues(parseHelmYaml(text, { name: path }), path);
  } catch {
    // Helm reports the syntax error.
    return callsInText(text, path);
  }
}

/** The first one takes precedence. */
export function both(first: OutsideCalls, second: OutsideCalls): OutsideCalls {
  return { ...second, ...first };
}
