/** HelmOps, HelmReleases and Bundles in short, as the dashboard shows them. Pure. */
import type { Bundle, BundleSummary, Condition, HelmOp } from "@flotilla/shared/api";
import { helmOpLabel, helmReleaseLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { type App, type AppRef, type AppState, appStates } from "@flotilla/shared/dashboard";
import type { HelmRelease } from "@flotilla/shared/flux";
import { countIn } from "../summary/index.ts";

/** What all three kinds have in their status. */
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
    suspended: spec.suspend === true,
    labels: { ...metadata.labels },
    chart: chart || repo || "",
    ...versionIn(status?.version),
    ...countsOf(status?.summary, status?.offlineClusterCount),
  };
}

export function appOfHelmRelease({ metadata, spec, status }: HelmRelease): App {
  const { summary, history } = status ?? {};
  return {
    ...refOf("HelmRelease", metadata),
    ...stateOf(status, metadata.generation),
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
    suspended: spec.suspend === true,
    labels: { ...metadata.labels },
    chart: chart || repo || "",
    ...versionIn(status?.version),
    ...countsOf(status?.summary, status?.offlineClusterCount),
  };
}

/** What a Bundle was made for: a HelmOp, a HelmRelease, or nothing, so that it is shown itself. */
export function appRefOf({ metadata, spec }: Bundle): AppRef {
  const { labels = {} } = metadata;
  const helmOp = labels[helmOpLabel];
  if (helmOp !== undefined) return refOf("HelmOp", { ...metadata, name: helmOp });
  if (labels[helmReleaseLabel] === undefined) return refOf("Bundle", metadata);
  const name = spec.helmOpOptions?.origin?.name ?? labels[helmReleaseLabel];
  return refOf("HelmRelease", { ...metadata, name });
}

function refOf(
  kind: AppRef["kind"],
  { namespace = "", name }: { readonly namespace?: string; readonly name: string },
): AppRef {
  return { kind, namespace, name };
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

type StateFields = Pick<App, "state" | "reason" | "message" | "since">;

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
  // Of Flux's kinds: its source is not ready, for one.
  if (ready?.status === "False" && found.length === 0) found.push(["Stalled", ready]);
  const isObserved = status?.observedGeneration === generation && ready !== undefined;
  if (!isObserved || ready.status === "Unknown") found.push(["Progressing", ready]);
  const [worst] = found.toSorted(
    ([one], [other]) => appStates.indexOf(one) - appStates.indexOf(other),
  );
  const [state, condition] = worst ?? (["Ready", ready] as const);
  return { state, ...explained(condition) };
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
