/** Apps in short, as the dashboard shows them. Pure. */
import type {
  Bundle,
  BundleDeployment,
  BundleStatus,
  BundleSummary,
  Condition,
  ResolutionStatus,
} from "@flotilla/shared/api";
import { type AppKind, appInLabels } from "@flotilla/shared/api/apps";
import { appOfBundleName, bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import {
  type App,
  type AppRef,
  type AppState,
  appStates,
  releaseStates,
} from "@flotilla/shared/dashboard";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { countIn } from "../summary/summarize.ts";
import { driftText } from "./drift-text.ts";

/** What all kinds have. */
interface AppObject extends KubeObject {
  readonly spec?: { readonly suspend?: boolean | null | undefined } | undefined;
  readonly status?: AppStatus | undefined;
}

type FleetObject = Pick<Bundle, "metadata" | "spec"> & {
  readonly status?:
    | (AppStatus & Pick<BundleStatus, "version" | "rejectedCode" | "offlineClusterCount">)
    | undefined;
};

interface AppFields {
  readonly chart: string;
  readonly version?: string | undefined;
  /** Clusters. */
  readonly offline?: number | undefined;
  /** The apps that it depends on. */
  readonly waitsFor?: readonly AppRef[] | undefined;
}

/** What all kinds have in their status. */
interface AppStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly summary?: BundleSummary | undefined;
}

/** What the page shows of every kind. */
export function appOf(
  kind: AppKind,
  object: AppObject,
  { chart, version, offline, waitsFor = [] }: AppFields,
): App {
  const { metadata, spec, status } = object;
  return {
    ...refOf(kind, metadata),
    ...stateOf(status, metadata.generation),
    ...(waitsFor.length > 0 && { waitsFor: [...waitsFor] }),
    suspended: spec?.suspend === true,
    labels: { ...metadata.labels },
    chart,
    ...(version !== undefined && version !== "" && { version }),
    ...countsOf(status?.summary, offline),
  };
}

/** The same of a kind with Fleet's spec. `attempt`: the last one to resolve its charts. */
export function appOfFleet(
  kind: AppKind,
  object: FleetObject,
  attempt: ResolutionStatus | undefined,
): App {
  const { metadata, spec, status } = object;
  const { chart, repo } = spec.helm ?? {};
  return {
    ...appOf(kind, object, {
      chart: chart || repo || "",
      version: status?.version,
      offline: status?.offlineClusterCount,
      waitsFor: bundlesOf(spec.dependsOn, metadata.namespace),
    }),
    ...codeIn(status?.rejectedCode, attempt),
    ...hostIn(repo || chart),
  };
}

/** The app that a Bundle was made for, or the Bundle itself. */
export function appRefOf({ metadata, spec }: Bundle): AppRef {
  const ref = refIn(metadata.labels, metadata);
  const origin = spec.helmOpOptions?.origin;
  return origin?.kind === ref.kind ? { ...ref, name: origin.name } : ref;
}

/**
 * The app of a deployment whose Bundle is deleted: it has the labels of its Bundle. An app with a longer name than a label
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

export function refOf(
  kind: AppRef["kind"],
  { namespace = "", name }: { readonly namespace?: string; readonly name: string },
): AppRef {
  return { kind, namespace, name };
}

/** The host of an address, without its user. */
function hostIn(address: string | null | undefined): Pick<App, "host"> {
  const url = address && URL.canParse(address) ? new URL(address) : undefined;
  return url === undefined || url.host === "" ? {} : { host: url.host };
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

/** The reason of the rejection comes first: no request is made to the source before it is gone. */
function codeIn(
  rejectedCode: string | undefined,
  attempt: ResolutionStatus | undefined,
): Pick<App, "code"> {
  const code = rejectedCode ?? attempt?.code;
  return code === undefined || code === "" ? {} : { code };
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
  const stalled = findCondition(conditions, fluxType.stalled);
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
