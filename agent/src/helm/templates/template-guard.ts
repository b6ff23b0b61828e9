/** Rejects charts whose templates read the cluster or query DNS when the HelmOp does not allow it (docs/adr/0010). */

import { createLruCache } from "@flotilla/shared/cache";
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { canonicalJson } from "@flotilla/shared/json";
import type { ChartFile } from "@flotilla/shared/source/cache";
import type { Values } from "@flotilla/shared/values";
import { agentErrors } from "../../base/errors/index.ts";
import { both, type ChartCalls, mayHavePostHooks } from "./chart-calls.ts";
import type { OutsideCalls } from "./template-calls.ts";

export interface TemplateCheck {
  readonly content: DeploymentContent;
  readonly chart: ChartFile;
  /** Absent: Helm gets none. */
  readonly values?: Values | undefined;
}

export interface CheckedChart {
  readonly name: string;
  readonly version: string;
  /** Whether it may have hooks that run after the objects are installed: Helm itself must wait for these. */
  readonly hasPostHooks: boolean;
}

/** Throws TEMPLATES_DENIED, LIMIT_EXCEEDED, and CHART_UNREADABLE for an archive that is not a chart. */
export type CheckTemplates = (use: TemplateCheck) => Promise<CheckedChart>;

/** Reads in a process of its own what a tenant wrote. Both throw LIMIT_EXCEEDED. */
export interface ReadCalls {
  /** Throws CHART_UNREADABLE. */
  inChart(chart: ChartFile): Promise<ChartCalls>;
  inValues(values: Values): Promise<OutsideCalls>;
}

/** Number of charts. */
const cacheSize = 500;

export function createTemplateGuard(read: ReadCalls): CheckTemplates {
  const known = createLruCache<Promise<ChartCalls>>(cacheSize);

  function chartOf(chart: ChartFile): Promise<ChartCalls> {
    const found = known.get(chart.digest);
    if (found !== undefined) return found;
    const fresh = read.inChart(chart);
    known.set(chart.digest, fresh);
    // The archive may be downloaded again, and be complete then.
    fresh.catch(() => known.delete(chart.digest));
    return fresh;
  }

  return async function checkTemplates({ content, chart, values }) {
    const { calls, rendersValues, hasPostHooks, name, version } = await chartOf(chart);
    const reached =
      rendersValues && values !== undefined ? both(calls, await read.inValues(values)) : calls;
    const error = validateOutsideCalls(reached, content.helm);
    const rendered = [values, content.postRenderers];
    if (error === undefined)
      return { name, version, hasPostHooks: hasPostHooks || rendered.some(mayHaveHooks) };
    throw new AppError(
      agentErrors.TEMPLATES_DENIED,
      `render release ${content.namespace}/${content.releaseName}: ${error}`,
    );
  };
}

/** Some charts render manifests in their values, and a post-renderer can make any object a hook. */
function mayHaveHooks(value: Values | DeploymentContent["postRenderers"]): boolean {
  return value !== undefined && mayHavePostHooks(canonicalJson(value));
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
