/** Apps in short, as the dashboard shows them. Pure. */
import type {
  Bundle,
  BundleDeployment,
  BundleSummary,
  Condition,
  HelmOp,
  ResolutionStatus,
} from "@flotilla/shared/api";
import { appInLabels } from "@flotilla/shared/api/apps";
import { appOfBundleName, bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import {
  type App,
  type AppRef,
  type AppState,
  appStates,
  releaseStates,
  sourceKinds,
} from "@flotilla/shared/dashboard";
import type { HelmRelease } from "@flotilla/shared/flux";
import { countIn } from "../summary/index.ts";
import { driftText } from "./drift-text.ts";

/** What all kinds have in their status. */
interface AppStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly summary?: BundleSummary | undefined;
}

export function appOfHelmOp({ metadata, spec, status }: HelmOp): App {
  const { chart, repo } = spec.helm ?? {};
  return {
    ...refOf("HelmOp", metadata),
    ...stateOf(status, metadata.generation),
    ...codeIn(status?.rejectedCode, status?.polling),
    ...(spec.helmSecretName && { secret: spec.helmSecretName }),
    ...waitsFor(bundlesOf(spec.dependsOn, metadata.namespace)),
    suspended: spec.suspend === true,
    labels: { ...metadata.labels },
    chart: chart || repo || "",
    ...hostIn(repo || chart),
    ...versionIn(status?.version),
    ...countsOf(status?.summary, status?.offlineClusterCount),
  };
}

export function appOfHelmRelease(release: HelmRelease): App {
  const { metadata, spec, status } = release;
  const { summary, history } = status ?? {};
  return {
    ...refOf("HelmRelease", metadata),
    ...stateOf(status, metadata.generation),
    ...sourceOfRelease(release),
    ...waitsFor(
      (spec?.dependsOn ?? []).map(({ namespace, name }) =>
        refOf("HelmRelease", { namespace: namespace || (metadata.namespace ?? ""), name }),
      ),
    ),
    suspended: spec?.suspend === true,
    labels: { ...metadata.labels },
    chart: spec?.chart?.spec.chart ?? spec?.chartRef?.name ?? "",
    ...versionIn(history?.[0]?.chartVersion),
    ...countsOf(summary, summary?.offline),
  };
}

export function appOfBundle({ metadata, spec, status }: Bundle): App {
  const { chart, repo } = spec.helm ?? {};
  return {
    ...refOf("Bundle", metadata),
    ...stateOf(status, metadata.generation),
    ...codeIn(status?.rejectedCode, status?.resolution),
    ...waitsFor(bundlesOf(spec.dependsOn, metadata.namespace)),
    suspended: spec.suspend === true,
    labels: { ...metadata.labels },
    chart: chart || repo || "",
    ...versionIn(status?.version),
    ...countsOf(status?.summary, status?.offlineClusterCount),
  };
}

/** The app that a Bundle was made for, or the Bundle itself. */
export function appRefOf({ metadata, spec }: Bundle): AppRef {
  const ref = refIn(metadata.labels, metadata);
  const origin = spec.helmOpOptions?.origin;
  return origin?.kind === ref.kind ? { ...ref, name: origin.name } : ref;
}

/**
 * That of a deployment whose Bundle is deleted: it has the labels of its Bundle. An app with a longer name than a label
 * has the shortened one. Undefined without labels.
 */
export function appRefOfDeployment({ metadata }: BundleDeployment): AppRef | undefined {
  const { [bundleNamespaceLabel]: namespace, [bundleNameLabel]: name } = metadata.labels ?? {};
  if (namespace === undefined || name === undefined) return undefined;
  return refIn(metadata.labels, { namespace, name });
}

function refIn(
  labels: Readonly<Record<string, string>> | undefined,
  bundle: { readonly namespace?: string; readonly name: string },
): AppRef {
  const app = appInLabels(labels);
  return app === undefined
    ? refOf("Bundle", bundle)
    : refOf(app.kind, { ...bundle, name: app.name });
}

function refOf(
  kind: AppRef["kind"],
  { namespace = "", name }: { readonly namespace?: string; readonly name: string },
): AppRef {
  return { kind, namespace, name };
}

/** Of an address, without its user. */
function hostIn(address: string | null | undefined): Pick<App, "host"> {
  const url = address && URL.canParse(address) ? new URL(address) : undefined;
  return url === undefined || url.host === "" ? {} : { host: url.host };
}

/** The source that a HelmRelease names. */
export function sourceOfRelease({ metadata, spec }: HelmRelease): Pick<App, "source"> {
  const ref = spec?.chart?.spec.sourceRef ?? spec?.chartRef;
  const kind = sourceKinds.find((each) => each === ref?.kind);
  if (ref === undefined || kind === undefined) return {};
  return { source: { kind, namespace: ref.namespace ?? metadata.namespace ?? "", name: ref.name } };
}

/**
 * The apps of the Bundles that `dependsOn` names. What a selector selects may be any number of them, in each cluster others, so it
 * is left out: of those only the ones that select nothing are shown (`unmatched-selectors.ts`). A HelmOp and a Bundle without one have
 * the same name: as long as there is neither it is called a HelmOp.
 */
function bundlesOf(dependsOn: Bundle["spec"]["dependsOn"], namespace = ""): readonly AppRef[] {
  return (dependsOn ?? []).flatMap(({ name }) => {
    if (!name) return [];
    const app = appOfBundleName(name);
    return [refOf(app.kind, { namespace, name: app.name })];
  });
}

function waitsFor(refs: readonly AppRef[]): Pick<App, "waitsFor"> {
  return refs.length === 0 ? {} : { waitsFor: [...refs] };
}

/** That of the rejection comes first: no request is made to the source before it is gone. */
function codeIn(
  rejectedCode: string | undefined,
  attempt: ResolutionStatus | undefined,
): Pick<App, "code"> {
  const code = rejectedCode ?? attempt?.code;
  return code === undefined || code === "" ? {} : { code };
}

function versionIn(version: string | undefined): Pick<App, "version"> {
  return version === undefined || version === "" ? {} : { version };
}

function countsOf(
  summary: BundleSummary | undefined,
  offline = 0,
): Pick<App, "ready" | "desired" | "offline" | "isChanging"> {
  const { ready = 0, desiredReady: desired = 0 } = summary ?? {};
  const { waitApplied = 0, outOfSync = 0, pending = 0 } = summary ?? {};
  return { ready, desired, offline, isChanging: waitApplied + outOfSync + pending > 0 };
}

type StateFields = Pick<App, "state" | "reason" | "message" | "since" | "examples">;

/** The state that needs attention most, with the condition that explains it. */
function stateOf(status: AppStatus | undefined, generation: number | undefined): StateFields {
  const { conditions, summary } = status ?? {};
  const accepted = findCondition(conditions, "Accepted");
  const ready = findCondition(conditions, "Ready");
  const stalled = findCondition(conditions, "Stalled");
  const found: (readonly [AppState, Condition | undefined])[] = [];
  if (accepted?.status === "False") found.push(["NotAccepted", accepted]);
  for (const state of appStates)
    if (summary !== undefined && countIn(summary, state) > 0) found.push([state, ready]);
  if (stalled?.status === "True") found.push(["Stalled", stalled]);
  if (ready?.status === "True" && ready.reason === "NoTargets") found.push(["NoTargets", ready]);
  // Such as a HelmRelease whose source is not ready.
  if (ready?.status === "False" && found.length === 0) found.push(["Stalled", ready]);
  const isObserved = status?.observedGeneration === generation && ready !== undefined;
  if (!isObserved || ready.status === "Unknown") found.push(["Progressing", ready]);
  const [worst] = found.toSorted(
    ([one], [other]) => appStates.indexOf(one) - appStates.indexOf(other),
  );
  const [state, condition] = worst ?? (["Ready", ready] as const);
  return { state, ...explained(condition), ...examplesOf(state, summary) };
}

/** More would not be read. */
const mostExamples = 3;

/** From fields of the summary: its messages for `kubectl get` are not taken apart. */
function examplesOf(
  state: AppState,
  summary: BundleSummary | undefined,
): Pick<StateFields, "examples"> {
  const own = (summary?.nonReadyResources ?? []).filter(({ bundleState }) => bundleState === state);
  const named = releaseStates.find((each) => each === state);
  if (named === undefined || own.length === 0) return {};
  return {
    examples: own.slice(0, mostExamples).map(({ name = "", message, modifiedStatus }) => {
      const why = named === "Modified" ? driftText(modifiedStatus ?? []) : (message ?? "");
      return { cluster: name, state: named, ...(why !== "" && { message: why }) };
    }),
  };
}

/** The reason of a state, from the condition that decides it. */
export function explained(condition: Condition | undefined): Omit<StateFields, "state"> {
  const { reason, message, lastTransitionTime } = condition ?? {};
  return {
    ...(reason && { reason }),
    ...(message && { message }),
    ...(lastTransitionTime && { since: lastTransitionTime }),
  };
}
