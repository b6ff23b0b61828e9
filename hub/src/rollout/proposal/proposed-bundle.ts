/**
 * The Bundle that an app would have with another version or other values. It is validated, judged by Policies and resolved like
 * the Bundle of an object which says so, and nothing of it is written.
 */
import type { Bundle, ChartPin, HelmOp, HelmOptions } from "@flotilla/shared/api";
import type { AppKind } from "@flotilla/shared/api/apps";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Resolver } from "@flotilla/shared/source/client";
import { isMap, mergeValues, setValues, type Values } from "@flotilla/shared/values";
import { hubErrors } from "../../base/index.ts";
import { authoritiesOf, validateBundle, validateRelease } from "../../frontends/index.ts";
import {
  bundleSpecOf,
  type ChartAccess,
  forbidsNamespaces,
  judge,
  limitsRepositories,
  type MergedPolicy,
  type PlannedRelease,
  type PolicyDeps,
  policiesFor,
  type ResolvedCharts,
  type RolloutStrategies,
  releaseOfBundle,
  releaseOfHelmOp,
  resolveCharts,
  withDefaultsOf,
} from "../../rules/index.ts";
import { deriveSpec } from "../bundle/derive-spec.ts";

/** What is asked about, instead of what the app says. */
export interface ProposedChange {
  /** A version or a constraint, instead of `spec.helm.version`. */
  readonly version?: string;
  /** Merged over `spec.helm.values`, as Helm merges a values file. */
  readonly values?: Values;
  /** Lines of Helm's `--set`, which change what results. */
  readonly set?: readonly string[];
}

export interface ProposedBundleDeps {
  readonly helmOps: Pick<Store<HelmOp>, "get">;
  readonly policy: PolicyDeps;
  readonly strategies: Pick<RolloutStrategies, "strategyOf">;
  readonly resolver: Resolver;
  readonly access: Pick<ChartAccess, "of" | "forget">;
  /** The pins of a Bundle that the hub wrote; undefined: somebody else did. */
  readonly pinsOf: (bundle: Bundle) => readonly ChartPin[] | undefined;
}

/** An app, by the Bundle that it has now. */
export interface ProposedApp {
  readonly kind: AppKind;
  readonly bundle: Bundle;
  readonly change: ProposedChange;
}

/** Throws what is wrong with the change, as the app itself would say it in Accepted. */
export async function proposedBundle(
  deps: ProposedBundleDeps,
  { kind, bundle, change }: ProposedApp,
  signal: AbortSignal,
): Promise<Bundle> {
  const helmOp = kind === "HelmOp" ? deps.helmOps.get(keyOf(bundle)) : undefined;
  const spec =
    helmOp !== undefined
      ? await ofHelmOp(deps, { bundle, helmOp, change }, signal)
      : bundle.spec.helmOpOptions?.origin !== undefined
        ? ofFrontEnd(deps, { kind, bundle, change })
        : await ofBundle(deps, { kind, bundle, change }, signal);
  const proposed = { ...bundle, spec };
  const rolloutStrategy = deps.strategies.strategyOf(proposed);
  return rolloutStrategy === undefined
    ? proposed
    : { ...proposed, spec: { ...spec, rolloutStrategy } };
}

async function ofHelmOp(
  deps: ProposedBundleDeps,
  { bundle, helmOp, change }: Omit<ProposedApp, "kind"> & { readonly helmOp: HelmOp },
  signal: AbortSignal,
): Promise<Bundle["spec"]> {
  const spec = { ...helmOp.spec, helm: changed(helmOp.spec.helm, change) };
  const planned = releaseOfHelmOp({ ...helmOp, spec });
  const policies = policiesFor(deps.policy, planned);
  const release = withDefaultsOf(policies, planned);
  const error = validateRelease(release) ?? judge(deps.policy, policies, release);
  if (error !== undefined) throw error;
  const known = writtenPins(deps, bundle);
  const charts = await chartsOf(deps, { release, policies, known }, signal);
  return underPolicies({ ...bundle, spec: bundleSpecOf(release, charts) }, policies);
}

async function ofBundle(
  deps: ProposedBundleDeps,
  { bundle, change }: ProposedApp,
  signal: AbortSignal,
): Promise<Bundle["spec"]> {
  const { spec } = bundle;
  const changedBundle = { ...bundle, spec: { ...spec, helm: changed(spec.helm, change) } };
  const release = releaseOfBundle(changedBundle);
  const policies = policiesFor(deps.policy, release);
  const error = validateBundle(changedBundle) ?? judge(deps.policy, policies, release);
  if (error !== undefined) throw error;
  const known = bundle.status?.pins ?? [];
  const authorities = authoritiesOf(bundle);
  const charts = await chartsOf(deps, { release, policies, known, authorities }, signal);
  const noNamespaces = forbidsNamespaces(policies);
  return deriveSpec({ bundle: changedBundle, ...charts, noNamespaces });
}

/** Its front end finds its chart by other objects than the Bundle: only values can be other ones. */
function ofFrontEnd(
  deps: ProposedBundleDeps,
  { kind, bundle, change }: ProposedApp,
): Bundle["spec"] {
  writtenPins(deps, bundle);
  if (change.version !== undefined)
    throw new AppError(
      hubErrors.REQUEST_INVALID,
      `the version of a ${kind} cannot be proposed, because its chart is found when the version is written; propose values, or have a stage with approval.plan ask before the version is deployed`,
    );
  const { spec } = bundle;
  const changedBundle = { ...bundle, spec: { ...spec, helm: changed(spec.helm, change) } };
  const release = releaseOfBundle(changedBundle);
  const policies = policiesFor(deps.policy, release);
  const violation = judge(deps.policy, policies, release);
  if (violation !== undefined) throw violation;
  return underPolicies(changedBundle, policies);
}

function underPolicies(bundle: Bundle, policies: readonly MergedPolicy[]): Bundle["spec"] {
  return deriveSpec({ bundle, noNamespaces: forbidsNamespaces(policies) });
}

/** Throws REQUEST_INVALID for a line that cannot be read. */
function changed(
  helm: HelmOptions | null | undefined,
  { version, values = {}, set: lines = [] }: ProposedChange,
): HelmOptions {
  const before = isMap(helm?.values) ? helm.values : {};
  const set = setValues(mergeValues(before, values), lines);
  if (set.kind === "invalid")
    throw new AppError(hubErrors.REQUEST_INVALID, `a line of --set cannot be read: ${set.problem}`);
  return { ...helm, ...(version !== undefined && { version }), values: set.values };
}

function writtenPins({ pinsOf }: ProposedBundleDeps, bundle: Bundle): readonly ChartPin[] {
  const pins = pinsOf(bundle);
  if (pins !== undefined) return pins;
  throw new AppError(
    hubErrors.REQUEST_TARGET_NOT_FOUND,
    `the Bundle ${keyOf(bundle)} is not as the hub wrote it; retry when the hub has corrected it`,
  );
}

interface AskedCharts {
  readonly release: PlannedRelease;
  readonly policies: readonly MergedPolicy[];
  /** Charts that are resolved already. */
  readonly known: readonly ChartPin[];
  readonly authorities?: string | undefined;
}

/** Only what the change asks for is resolved: what the app has now stays as it is. */
async function chartsOf(
  { access, resolver }: ProposedBundleDeps,
  { release, policies, known, authorities }: AskedCharts,
  signal: AbortSignal,
): Promise<ResolvedCharts> {
  try {
    const showsResponses = policies.some(limitsRepositories);
    const { settingsFor, caBundle } = await access.of(release, { authorities, showsResponses });
    const { pins, failure } = await resolveCharts(resolver, {
      release,
      known,
      settingsFor,
      signal,
      poll: false,
    });
    if (failure !== undefined) throw failure.error;
    return { pins, caBundle };
  } finally {
    access.forget(keyOf(release));
  }
}
