/** Keeps Helm from rendering templates that reach outside of the chart where nobody has allowed it (docs/adr/0010). */

import { createLruCache } from "@flotilla/shared/cache/lru-cache.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { ChartFile } from "@flotilla/shared/source/cache/chart-file.ts";
import type { Values } from "@flotilla/shared/values/merge-values.ts";
import { parseHelmYaml } from "@flotilla/shared/yaml/helm-yaml.ts";
import type { Actor } from "../acting/actors.ts";
import { agentErrors } from "../errors.ts";
import { readChartTemplates } from "./chart-templates.ts";
import {
  callsInText,
  callsInValues,
  type OutsideCalls,
  outsideFunctions,
  type TemplateFile,
  templateCalls,
} from "./template-calls.ts";
import { refusalOf } from "./template-rights.ts";

export interface TemplateUse {
  readonly content: DeploymentContent;
  readonly chart: ChartFile;
  /** As whom Helm runs. */
  readonly actor: Actor;
  /** What Helm is given as values; absent: none. */
  readonly values?: Values | undefined;
}

/** Throws TEMPLATES_REFUSED, and CHART_UNREADABLE for what is no chart. */
export type CheckTemplates = (use: TemplateUse) => Promise<void>;

interface KnownChart {
  readonly calls: OutsideCalls;
  readonly rendersValues: boolean;
}

/** Charts whose templates were read. */
const remembered = 500;

export function createTemplateGuard(): CheckTemplates {
  const known = createLruCache<Promise<KnownChart>>(remembered);

  async function lookInto(chart: ChartFile): Promise<KnownChart> {
    const { templates, values, files } = await readChartTemplates(chart);
    const { calls, rendersValues, rendersFiles } = templateCalls(templates);
    const rendered = [
      ...(rendersValues ? values.map(callsInValuesFile) : []),
      ...(rendersFiles ? files.map(({ path, text }) => callsInText(text, path)) : []),
    ];
    return { calls: [calls, ...rendered].reduce(both), rendersValues };
  }

  function chartOf(chart: ChartFile): Promise<KnownChart> {
    const found = known.get(chart.digest);
    if (found !== undefined) return found;
    const fresh = lookInto(chart);
    known.set(chart.digest, fresh);
    // The file may be fetched anew, and be whole then.
    fresh.catch(() => known.delete(chart.digest));
    return fresh;
  }

  return async function checkTemplates({ content, chart, actor, values }) {
    const { calls, rendersValues } = await chartOf(chart);
    const reached = rendersValues ? both(calls, callsInValues(values, "the values")) : calls;
    const refusal = refusalOf(reached, content.helm, actor.isAgent);
    if (refusal === undefined) return;
    throw new AppError(
      agentErrors.TEMPLATES_REFUSED,
      `render release ${content.namespace}/${content.releaseName}: ${refusal}`,
    );
  };
}

/** Nothing where nothing suspicious is in it: reading YAML takes its time. */
function callsInValuesFile({ path, text }: TemplateFile): OutsideCalls {
  if (!outsideFunctions.some((name) => text.includes(name))) return {};
  try {
    return callsInValues(parseHelmYaml(text, { name: path }), path);
  } catch {
    // Helm will say what is wrong with it.
    return callsInText(text, path);
  }
}

/** The first wins. */
function both(first: OutsideCalls, second: OutsideCalls): OutsideCalls {
  return { ...second, ...first };
}
