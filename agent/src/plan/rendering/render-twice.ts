/**
 * Renders a release as Helm would install it now, twice, so that what differs from one rendering to the next is known. Helm does
 * nothing but render: it writes no record, no object and no namespace.
 */
import { AppError } from "@flotilla/shared/errors";
import type { PlanRemark } from "@flotilla/shared/plan";
import type { Clock } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import {
  type HelmHook,
  type HelmResult,
  helmErrorOf,
  helmFailureOf,
  lacksKind,
  type ReadRecords,
  type RunHelm,
  withOptions,
} from "../../helm/index.ts";
import { type RenderedObject, renderedObjects } from "../change/generated.ts";

export interface RenderDeps {
  readonly records: Pick<ReadRecords, "printed" | "wholeObjects">;
  readonly clock: Pick<Clock, "now">;
}

export interface RenderInput {
  /** For messages. */
  readonly release: { readonly namespace: string; readonly name: string };
  /** With the post-renderers of the deployment. */
  readonly runHelm: RunHelm;
  /** As for an upgrade, with those that impersonate. */
  readonly args: readonly string[];
  readonly stdin: string | undefined;
  /** The chart has definitions that are created before its objects: Helm cannot know their kinds yet. */
  readonly definesKinds: boolean;
  /** Removes values of Secrets. */
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

export interface Rendering {
  readonly objects: readonly RenderedObject[];
  readonly hooks: readonly HelmHook[];
  readonly remarks: readonly PlanRemark[];
}

type Mode = "server" | "client";

/** Throws HELM_FAILED, LIMIT_EXCEEDED, RELEASE_UNREADABLE and HELM_UNAVAILABLE. */
export async function renderTwice(deps: RenderDeps, input: RenderInput): Promise<Rendering> {
  const fromMs = deps.clock.now();
  const found = await runTwice(input, "server");
  const isUnknown = input.definesKinds && found.every(({ stderr }) => lacksKind(stderr));
  const results = isUnknown ? await runTwice(input, "client") : found;
  const toMs = deps.clock.now();
  const what = `the dry run of release ${input.release.namespace}/${input.release.name}`;
  const [first, second] = await Promise.all(
    results.map(async (result) => {
      checkResult(result, input);
      const release = await deps.records.printed(result.stdout, what);
      return { release, objects: await deps.records.wholeObjects(release) };
    }),
  );
  return {
    objects: renderedObjects(first?.objects ?? [], second?.objects ?? [], { fromMs, toMs }),
    hooks: first?.release.hooks ?? [],
    remarks: isUnknown ? ["LookupNotEvaluated"] : [],
  };
}

/** Beside each other: most of the time of one is spent waiting for the API server. */
async function runTwice(
  { runHelm, args, stdin, signal }: RenderInput,
  mode: Mode,
): Promise<readonly HelmResult[]> {
  const run = {
    args: withOptions([`--dry-run=${mode}`], args),
    isBackground: true,
    signal,
    ...(stdin !== undefined && { stdin }),
  };
  return await Promise.all([runHelm(run), runHelm(run)]);
}

function checkResult(result: HelmResult, { release, redact, signal }: RenderInput): void {
  signal.throwIfAborted();
  const what = `helm upgrade --install --dry-run of release ${release.namespace}/${release.name}`;
  if (result.exceeded !== undefined)
    throw new AppError(
      agentErrors.LIMIT_EXCEEDED,
      `${what}: ${helmErrorOf(result)}; nothing was changed`,
    );
  if (result.code === 0) return;
  throw new AppError(agentErrors.HELM_FAILED, `${what}: ${redact(helmFailureOf(result))}`);
}
