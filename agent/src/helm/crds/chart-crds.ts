/**
 * Creates and replaces the CustomResourceDefinitions in the folder `crds` of a chart, where a user wants more than Helm does,
 * which creates them with an installation only. None is ever deleted.
 */
import { AppError, messageOf } from "@flotilla/shared/errors";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
} from "@flotilla/shared/kube/objects";
import type { ChartFile } from "@flotilla/shared/source/cache";
import { type Clock, delay } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import { helmErrorOf, type RunHelm } from "../cli/run-helm.ts";
import type { ReadRecords } from "../record/read-records.ts";
import { desiredCrd, isEstablished } from "./desired-crd.ts";

/**
 * Calls `work` with the path of a packaged chart that has the definitions of this one and of its subcharts, and no template; it exists
 * until `work` ends. Undefined for a chart without definitions.
 */
export type WithDefinitions = <T>(
  chart: Pick<ChartFile, "path" | "digest">,
  work: (path: string) => Promise<T>,
) => Promise<T | undefined>;

export interface ChartCrdsDeps {
  readonly runHelm: RunHelm;
  readonly withDefinitions: WithDefinitions;
  readonly records: Pick<ReadRecords, "chartCrds">;
  readonly clock: Clock;
}

export interface ChartCrdsInputs {
  readonly release: { readonly namespace: string; readonly name: string };
  /** The deployment, for a label. */
  readonly owner: string;
  readonly chart: { readonly path: string; readonly digest: string };
  /** As Helm gets them, on standard input. */
  readonly values: string | undefined;
  /** Existing definitions are replaced. */
  readonly replace: boolean;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

/** Throws CRDS_NOT_APPLIED. */
export type ApplyChartCrds = (inputs: ChartCrdsInputs) => Promise<void>;

/** The API server takes a second or two. */
const longestMs = 60_000;
const pollMs = 200;

export function createApplyChartCrds(deps: ChartCrdsDeps): ApplyChartCrds {
  return async function applyChartCrds(inputs) {
    const { release, client, replace, owner, signal } = inputs;
    const crds = await chartDefinitions(deps, inputs);
    for (const crd of crds) {
      const { name } = crd.metadata;
      try {
        const live = await poll(deps.clock, signal, "being deleted", async () => {
          const found = await client.rest.get(customResourceDefinitions, { name });
          return found?.metadata.deletionTimestamp === undefined ? { found } : undefined;
        }).then(({ found }) => found);
        const desired = desiredCrd(crd, live, owner);
        if (live === undefined) await client.rest.create(customResourceDefinitions, desired);
        else if (replace) await client.rest.replace(customResourceDefinitions, desired);
        await poll(deps.clock, signal, "not established", async () => {
          const found = await client.rest.get(customResourceDefinitions, { name });
          return found !== undefined && isEstablished(found) ? found : undefined;
        });
      } catch (thrown) {
        throw notApplied(release, `CustomResourceDefinition ${name}: ${messageOf(thrown)}`, thrown);
      }
    }
  };
}

/**
 * The definitions in the folders `crds` of a chart. Helm leaves out the folders of disabled subcharts. It has no template to render, and
 * asks no cluster. Throws CRDS_NOT_APPLIED.
 */
export async function chartDefinitions(
  { runHelm, withDefinitions, records }: Omit<ChartCrdsDeps, "clock">,
  {
    release,
    chart,
    values,
    signal,
  }: Pick<ChartCrdsInputs, "release" | "chart" | "values" | "signal">,
): Promise<readonly CustomResourceDefinition[]> {
  const result = await withDefinitions(chart, (path) =>
    runHelm({
      args: [
        ...["template", "--include-crds", "--no-hooks", "--skip-schema-validation"],
        ...[`--namespace=${release.namespace}`, ...(values === undefined ? [] : ["--values=-"])],
        ...["--", release.name, path],
      ],
      ...(values !== undefined && { stdin: values }),
      signal,
    }),
  );
  if (result === undefined) return [];
  if (result.code !== 0)
    throw notApplied(release, `list the definitions of the chart: ${helmErrorOf(result)}`);
  return await records.chartCrds(
    result.stdout,
    `the CustomResourceDefinitions of chart ${chart.digest}`,
  );
}

/** Until `find` has a result. `what` the definition is until then, for the error. */
async function poll<T>(
  clock: Clock,
  signal: AbortSignal,
  what: string,
  find: () => Promise<T | undefined>,
): Promise<T> {
  const deadlineMs = clock.monotonic() + longestMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (clock.monotonic() >= deadlineMs)
      throw new AppError(
        agentErrors.CRDS_NOT_APPLIED,
        `it is still ${what} after ${longestMs / 1_000} s`,
      );
    await delay(clock, pollMs, signal);
  }
}

function notApplied(
  { namespace, name }: ChartCrdsInputs["release"],
  what: string,
  cause?: unknown,
): AppError {
  return new AppError(
    agentErrors.CRDS_NOT_APPLIED,
    `apply the CustomResourceDefinitions of release ${namespace}/${name}: ${what}; the release was not changed`,
    { cause },
  );
}
