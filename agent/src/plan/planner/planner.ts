/**
 * Answers what Helm would change in this cluster if a content were assigned: as the account of the deployment, with the chart, the
 * values and the arguments of an installation. Nothing is created or changed, in the cluster or in what the agent has stored.
 */
import type { DeploymentKey, PlanOptions } from "@flotilla/proto";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { KubeStatusError, kubeErrors } from "@flotilla/shared/kube/client";
import type { PlanAnswer } from "@flotilla/shared/plan";
import type { ChartCache, UsedChart } from "@flotilla/shared/source/cache";
import type { Values } from "@flotilla/shared/values";
import { toHelmJson } from "@flotilla/shared/yaml";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClients, LimitRecords } from "../../base/index.ts";
import {
  type CheckTemplates,
  chartDefinitions,
  checkNamespace,
  type ReadRecords,
  type RunHelm,
  type UpgradeOptions,
  upgradeArgs,
  type WithDefinitions,
  type WithPostRenderers,
  withOptions,
} from "../../helm/index.ts";
import type { InputCollector } from "../../inputs/index.ts";
import {
  helmKey,
  isFirst,
  mayChangeMethod,
  mustReinstall,
  type PlanNow,
  planApply,
} from "../../release/index.ts";
import {
  type Attempts,
  chartAccess,
  type ReferencedDeps,
  type ReleaseAssignment,
} from "../../state/index.ts";
import { failedPlan, planAnswer, unchangedPlan } from "../change/plan-answer.ts";
import { kindsOf, planCrds } from "../object/plan-crds.ts";
import { type FindResource, type ObjectsPlan, planObjects } from "../object/plan-objects.ts";
import { type Rendering, renderTwice } from "../rendering/render-twice.ts";
import type { PlanQueue } from "./behind-deployments.ts";
import {
  type InstalledState,
  type InstalledStateDeps,
  installedState,
  type ReleaseToPlan,
} from "./installed-state.ts";
import { withRequested } from "./referenced-objects.ts";

/** What makes a plan. */
export interface RenderingDeps extends InstalledStateDeps, ReferencedDeps {
  readonly attempts: Pick<Attempts, "refusedOf">;
  readonly clients: Pick<ImpersonatedClients, "clientFor">;
  readonly inputs: Pick<InputCollector, "collectOnce">;
  readonly limitRecords: Pick<LimitRecords, "check">;
  readonly charts: Pick<ChartCache, "fetch">;
  readonly checkTemplates: CheckTemplates;
  readonly withDefinitions: WithDefinitions;
  readonly withPostRenderers: WithPostRenderers;
  readonly runHelm: RunHelm;
  readonly records: ReadRecords;
  readonly findResource: FindResource;
}

export interface PlannerDeps extends RenderingDeps {
  readonly queue: Pick<PlanQueue, "planning">;
}

export interface PlanRequest {
  readonly deployment: DeploymentKey;
  /** Undefined: it is not assigned yet. */
  readonly assignment: ReleaseAssignment | undefined;
  readonly options: PlanOptions;
}

/**
 * What would fail is a result. Throws REQUEST_FAILED for a request that cannot be answered, CONTENT_INVALID, and what says nothing of
 * the release: that the API server cannot be reached, or that nobody waits any more.
 */
export type Planner = (request: PlanRequest, signal: AbortSignal) => Promise<PlanAnswer>;

/** A shorter key could be guessed, and with it the values. */
const leastKeyBytes = 16;

export function createPlanner(deps: PlannerDeps): Planner {
  return async function plan(request, signal) {
    if (request.options.key.length < leastKeyBytes)
      throw failed(`the key of the plan has less than ${leastKeyBytes} bytes`);
    const content = await contentOf(request);
    return await deps.queue.planning(() => planContent(deps, request, content, signal), signal);
  };
}

/** The same right before an upgrade: not behind deployments, because it is a part of one; but only one at a time. */
export function createPlanNow(deps: RenderingDeps): PlanNow {
  const permits = createSemaphore(1);
  return async function planNow(assignment, key, signal) {
    const { owner: deployment, deploymentId } = assignment;
    const options: PlanOptions = { deploymentId, key, withText: false, objects: [] };
    const request = { deployment, assignment, options };
    const content = await contentOf(request);
    return await permits.run(async () => {
      signal.throwIfAborted();
      const { result } = await planContent(deps, request, content, signal);
      return result;
    });
  };
}

async function contentOf({
  assignment,
  options,
}: Pick<PlanRequest, "assignment" | "options">): Promise<DeploymentContent> {
  const { deploymentId, content } = options;
  if (content !== undefined) return await unpackContent({ deploymentId, bytes: content });
  if (assignment?.deploymentId === deploymentId && assignment.content.length > 0)
    return await unpackContent({ deploymentId, bytes: assignment.content });
  throw failed(`the agent does not have content ${deploymentId}`);
}

async function planContent(
  deps: RenderingDeps,
  { deployment, assignment, options }: PlanRequest,
  content: DeploymentContent,
  signal: AbortSignal,
): Promise<PlanAnswer> {
  const owner = assignment?.owner ?? { ...deployment, id: deployment.name };
  let known = { applied: "", revision: 0 };
  try {
    const client = await deps.clients.clientFor(content.serviceAccount);
    const referenced = await withRequested(deps.referenced, options.objects);
    const inputs = await deps.inputs.collectOnce(content, { client, referenced, signal });
    const release: ReleaseToPlan = { owner, content, client, inputs };
    const state = await installedState(deps, release, signal);
    known = state;
    if (state.isInSync) return unchangedPlan(state);
    await checkNamespace(client, content.namespace, content.allowedNamespaces, signal);
    const used: UsedChart[] = [];
    try {
      const sources = { referenced, sources: assignment?.sources };
      return await planRelease(deps, release, { state, options, used, signal, ...sources });
    } finally {
      for (const chart of used) chart.release();
    }
  } catch (thrown) {
    signal.throwIfAborted();
    const error = AppError.from(thrown);
    if (!isAboutRelease(error)) throw error;
    return failedPlan(error, known);
  }
}

/** What else is thrown may be gone with the next attempt. */
function isAboutRelease(error: AppError): boolean {
  const others: readonly string[] = [
    commonErrors.CANCELLED.code,
    commonErrors.INTERNAL.code,
    kubeErrors.KUBE_UNREACHABLE.code,
    agentErrors.HELM_UNAVAILABLE.code,
    agentErrors.REFERENCED_OBJECT_PENDING.code,
    agentErrors.REQUEST_FAILED.code,
  ];
  const isServerBusy =
    error instanceof KubeStatusError && (error.status === 429 || error.status >= 500);
  return !isServerBusy && !others.includes(error.code);
}

interface PlanInput extends Pick<ReferencedDeps, "referenced"> {
  readonly state: InstalledState;
  readonly options: PlanOptions;
  readonly sources: ReleaseAssignment["sources"];
  /** The chart is added. */
  readonly used: UsedChart[];
  readonly signal: AbortSignal;
}

async function planRelease(
  deps: RenderingDeps,
  release: ReleaseToPlan,
  input: PlanInput,
): Promise<PlanAnswer> {
  const { content, client, inputs, owner } = release;
  const { state, signal } = input;
  const { digest, values } = await inputs.final();
  deps.limitRecords.check(helmKey({ digest }));
  const { chart, name } = await fetchChart(deps, content, { ...input, values });
  const stdin = values === undefined ? undefined : toHelmJson(values);
  const place = { namespace: content.namespace, name: content.releaseName };
  const desired = { owner, ...place, digest };
  const { latest } = state;
  const notes = { ...deps, releases: { history: () => state.history } };
  const { options } = planApply(notes, { desired, content }, { digest, latest });
  const definitions =
    options.crds === "Skip"
      ? []
      : await chartDefinitions(
          { ...deps, runHelm: (run) => deps.runHelm({ ...run, isBackground: true }) },
          { release: place, chart, values: stdin, signal },
        );
  const args = upgradeArgs({
    content,
    options,
    owner,
    digest,
    chartPath: chart.path,
    chartDigest: chart.digest,
    hasValues: stdin !== undefined,
    origin: inputs.origin,
    revision: state.revision + 1,
    isRolledBackByHelm: false,
    waits: false,
  });
  const rendering = await renderTwice(deps, {
    release: place,
    runHelm: deps.withPostRenderers(content, deps.runHelm),
    args: withOptions(client.helmArgs, args),
    stdin,
    definesKinds: definitions.length > 0,
    redact: inputs.redact,
    signal,
  });
  const { base, moved } = state;
  const isInstall = isFirst(latest);
  const plan = objectsPlan(deps, release, {
    input,
    options,
    rendering,
    definedKinds: kindsOf(definitions),
    isReinstall: !isInstall && mustReinstall(content, base?.release.chartName, name),
  });
  const installed = (base?.objects ?? []).map((document) => ({
    document,
    namespace: place.namespace,
    isUninstalled: false,
  }));
  const objects = await planObjects(plan, rendering.objects, [...moved, ...installed]);
  const crds = await planCrds(plan, definitions, { crds: options.crds, owner: owner.name });
  const events = isInstall ? ["pre-install", "post-install"] : ["pre-upgrade", "post-upgrade"];
  const hooks = options.runsHooks
    ? rendering.hooks.filter((hook) => hook.events.some((event) => events.includes(event)))
    : [];
  return planAnswer(
    {
      objects,
      crds,
      applied: state.applied,
      revision: state.revision,
      isInstall: isInstall && moved.length === 0,
      hooks: hooks.map(({ kind, name: hook, events: all }) => ({
        kind: inputs.redact(kind),
        name: inputs.redact(hook),
        events: all.filter((event) => events.includes(event)),
      })),
      remarks: rendering.remarks,
    },
    agentErrors.UPGRADE_REJECTED.code,
  );
}

/** Throws what prevents an installation. */
async function fetchChart(
  deps: RenderingDeps,
  content: DeploymentContent,
  {
    values,
    referenced,
    sources,
    used,
    signal,
  }: Pick<PlanInput, "referenced" | "sources" | "used" | "signal"> & {
    readonly values: Values | undefined;
  },
): Promise<{ readonly chart: UsedChart; readonly name: string }> {
  const access = chartAccess(content, { ...deps, referenced });
  const chart = await deps.charts.fetch(content.pin, access, { signal, sources });
  used.push(chart);
  const { name } = await deps.checkTemplates({ content, chart, values });
  return { chart, name };
}

function objectsPlan(
  deps: RenderingDeps,
  { content, client, inputs }: ReleaseToPlan,
  {
    input,
    options,
    rendering,
    definedKinds,
    isReinstall,
  }: {
    readonly input: PlanInput;
    readonly options: UpgradeOptions;
    readonly rendering: Rendering;
    readonly definedKinds: ReadonlyMap<string, boolean>;
    readonly isReinstall: boolean;
  },
): ObjectsPlan {
  const { state, options: asked, signal } = input;
  const { namespace, releaseName: name } = content;
  const isInstall = isFirst(state.latest);
  // As Helm decides: it keeps the method of the revision before.
  const isClientSide =
    options.serverSide === "false" ||
    (options.serverSide !== "true" && !isInstall && state.base?.release.applyMethod !== "ssa");
  const ownNamespaces = rendering.objects.flatMap(({ document: { kind, metadata } }) =>
    kind === "Namespace" ? [metadata.name] : [],
  );
  return {
    rest: client.rest,
    release: { namespace, name },
    method: {
      // Without managers of fields a patch by the client changes all that the chart has.
      force: isClientSide || options.takesFields || options.serverSide === "true",
      replaces: options.force,
      replacesRefused: options.replacesRefused,
      mayUseClient: mayChangeMethod(options) || isClientSide,
    },
    isClientSide,
    isReinstall,
    definedKinds,
    createdNamespaces: new Set([
      ...ownNamespaces,
      ...(options.createsNamespace ? [namespace] : []),
    ]),
    masking: { key: asked.key, redact: inputs.redact },
    withText: asked.withText,
    ownTexts: ownTextsOf(deps, content),
    keepsCrds: content.deleteCRDResources !== true,
    findResource: deps.findResource,
    signal,
  };
}

/** Names that are the cluster's own; the longest first, because one may be in another. */
function ownTextsOf(
  { clusterInfo }: Pick<ReferencedDeps, "clusterInfo">,
  { releaseName }: DeploymentContent,
): readonly string[] {
  const cluster = clusterInfo.get()?.name;
  return [releaseName, ...(cluster === undefined ? [] : [cluster])].toSorted(
    (a, b) => b.length - a.length,
  );
}

function failed(message: string): AppError {
  return new AppError(agentErrors.REQUEST_FAILED, message);
}
