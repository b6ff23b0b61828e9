/** Rejects charts whose templates read the cluster or query DNS when the HelmOp does not allow it (docs/adr/0010). */

import { createLruCache } from "@flotilla/shared/cache";
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { ChartFile } from "@flotilla/shared/source/cache";
import type { Values } from "@flotilla/shared/values";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { agentErrors } from "../errors/index.ts";
import { readChartTemplates } from "./chart-templates.ts";
import {
  callsInText,
  callsInValues,
  type OutsideCalls,
  outsideFunctions,
  type TemplateFile,
  templateCalls,
} from "./template-calls.ts";

export interface TemplateCheck {
  readonly content: DeploymentContent;
  readonly chart: ChartFile;
  /** Absent: Helm gets none. */
  readonly values?: Values | undefined;
}

/** Throws TEMPLATES_DENIED, and CHART_UNREADABLE for an archive that is not a chart. */
export type CheckTemplates = (use: TemplateCheck) => Promise<void>;

interface KnownChart {
  readonly calls: OutsideCalls;
  readonly rendersValues: boolean;
}

/** Number of charts. */
const cacheSize = 500;

export function createTemplateGuard(): CheckTemplates {
  const known = createLruCache<Promise<KnownChart>>(cacheSize);

  async function analyse(chart: ChartFile): Promise<KnownChart> {
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
    const fresh = analyse(chart);
    known.set(chart.digest, fresh);
    // The archive may be downloaded again, and be complete then.
    fresh.catch(() => known.delete(chart.digest));
    return fresh;
  }

  return async function checkTemplates({ content, chart, values }) {
    const { calls, rendersValues } = await chartOf(chart);
    const reached = rendersValues ? both(calls, callsInValues(values, "the values")) : calls;
    const error = validateOutsideCalls(reached, content.helm);
    if (error === undefined) return;
    throw new AppError(
      agentErrors.TEMPLATES_DENIED,
      `render release ${content.namespace}/${content.releaseName}: ${error}`,
    );
  };
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
function both(first: OutsideCalls, second: OutsideCalls): OutsideCalls {
  return { ...second, ...first };
}

type Allowance = Pick<DeploymentContent["helm"], "disableLookup" | "disableDNS">;

/** The error of the first call that is not allowed, with what would allow it; undefined if Helm may render. */
export function validateOutsideCalls(
  { lookup, getHostByName }: OutsideCalls,
  { disableLookup, disableDNS }: Allowance,
): string | undefined {
  if (lookup !== undefined && disableLookup === true)
    return `${lookup} calls lookup, which helm.disableLookup disables`;
  // With `true` it returns nothing, as in Helm itself.
  if (getHostByName !== undefined && disableDNS === undefined)
    return `${getHostByName} calls getHostByName, and templates may query DNS only with helm.disableDNS: false; with true it returns nothing`;
  return undefined;
}
