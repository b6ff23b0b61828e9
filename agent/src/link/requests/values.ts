/** The values of a release in this cluster, as lines of JSON: each with its origin, values of Secrets masked. */
import type { ValuesOptions } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { canonicalJson } from "@flotilla/shared/json";
import type { Values } from "@flotilla/shared/values";
import type { ImpersonatedClient } from "../../base/index.ts";
import type { ReadRecords } from "../../helm/index.ts";
import { type InputCollector, type ValueOrigin, valuesWithOrigin } from "../../inputs/index.ts";
import type { AnswerSink } from "./open-requests.ts";
import { findNewest, type RequestedRelease, type StoredDeps } from "./requested-release.ts";

export interface ValuesDeps extends Pick<StoredDeps, "releases" | "inventory"> {
  readonly records: Pick<ReadRecords, "chartValues" | "stored">;
  readonly inputs: Pick<InputCollector, "layers">;
}

export interface ValuesRequest {
  readonly content: DeploymentContent;
  readonly client: ImpersonatedClient;
  /** Undefined: nothing is installed yet, so the values of the chart are not known. */
  readonly release: RequestedRelease | undefined;
  readonly options: ValuesOptions;
}

/** Throws what `InputCollector.layers` throws, RELEASE_UNREADABLE and LIMIT_EXCEEDED. */
export async function writeValues(
  deps: ValuesDeps,
  { content, client, release, options }: ValuesRequest,
  { write, signal }: AnswerSink,
): Promise<void> {
  const { layers, redact } = await deps.inputs.layers(content, { client, signal });
  const values = release === undefined ? {} : await chartValues(deps, release, signal);
  for (const found of valuesWithOrigin([{ origin: { kind: "chart" }, values }, ...layers])) {
    const { path, value } = found;
    const origin = originOf(found, options);
    const entry =
      origin.kind === "Secret" ? { path, origin, masked: true } : { path, origin, value };
    await write(`${redact(canonicalJson(entry))}\n`);
  }
}

/** The values of the newest revision: the chart of one that failed is the one that has to be explained. */
async function chartValues(
  deps: ValuesDeps,
  release: RequestedRelease,
  signal: AbortSignal,
): Promise<Values> {
  const newest = await findNewest(deps, release, signal);
  if (newest === undefined) return {};
  const what = `release ${release.namespace}/${release.name}`;
  return await deps.records.chartValues(newest.stored, what);
}

type ShownOrigin = ValueOrigin | { readonly kind: "target"; readonly name: string };

/** The values of a target come as a part of the spec's. Pure. */
export function originOf(
  { path, origin }: { readonly path: string; readonly origin: ValueOrigin },
  { target, targetPaths }: ValuesOptions,
): ShownOrigin {
  const isOfBundle = origin.kind === "spec" || origin.kind === "templateValues";
  const isOfTarget = targetPaths.some((each) => path === each || path.startsWith(`${each}.`));
  return isOfBundle && isOfTarget ? { kind: "target", name: target } : origin;
}
