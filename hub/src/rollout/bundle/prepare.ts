/** Decides whether a Bundle may be deployed as it is now, and with which spec. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleStatus, HelmOp } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ReconcileContext } from "@flotilla/shared/kube/controller";
import { type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";
import { authoritiesOf, isAppliedByHand, validateBundle } from "../../frontends/index.ts";
import {
  type AwaitedApps,
  attemptText,
  type ChartAccess,
  type ChartResolver,
  type ConditionState,
  chartNotResolved,
  forbidsNamespaces,
  handledOf,
  isAllPinned,
  judge,
  limitsRepositories,
  type MergedPolicy,
  type MissingReferences,
  notAccepted,
  notesOn,
  openRequests,
  type PinSigner,
  type PlannedRelease,
  type PolicyDeps,
  policiesFor,
  type ResolutionState,
  type RolloutStrategies,
  releaseOfBundle,
  remarksOnBundle,
  reservedFormProblem,
  withDefaultsOf,
} from "../../rules/index.ts";
import { type BundleResolution, resolutionStateOf } from "./decided-status.ts";
import { deriveSpec, type SpecSource } from "./derive-spec.ts";

interface Deployable {
  readonly kind: "deployable";
  /** With the strategy of the RolloutPolicy that it names. */
  readonly spec: Bundle["spec"];
  /** Remarks for its author. */
  readonly remarks: readonly string[];
  readonly resolution?: BundleResolution;
  /** When its source is due again, ms since 1970. */
  readonly nextAtMs?: number | undefined;
}

export type Prepared =
  | Deployable
  /** Nothing may change; what is deployed stays. */
  | {
      readonly kind: "notAccepted";
      readonly accepted: ConditionState;
      readonly error?: AppError;
      /** It was not accepted because something could not be read, which may pass. */
      readonly isRead?: boolean;
      readonly resolution?: BundleResolution;
      readonly nextAtMs?: number | undefined;
    }
  /** For its pins to be stored in the API, which reconciles it again. */
  | { readonly kind: "resolved"; readonly resolution: BundleResolution }
  /** For the HelmOp's controller to write the Bundle, which reconciles it again. */
  | { readonly kind: "waiting" }
  /** The object that it was made for is gone or has changed: what is deployed stays, and is only suspended and paused. */
  | { readonly kind: "held" };

/** The object of a front end that a Bundle was made for; undefined: there is none of that kind and key. */
export type OwnerOf = (kind: string, key: ObjectKey) => KubeObject | undefined;

export type PrepareBundle = (
  bundle: Bundle,
  /** The status to decide by. */
  status: BundleStatus | undefined,
  context: PrepareContext,
) => Promise<Prepared>;

export interface PrepareContext extends Pick<ReconcileContext, "signal" | "withoutWorker"> {
  /** Called when an attempt takes long whose last one failed, with the remarks that say so. */
  readonly onRetrying?: (remarks: readonly string[]) => void;
}

export interface PrepareDeps extends PolicyDeps {
  readonly helmOps: Store<HelmOp>;
  readonly access: ChartAccess;
  readonly charts: ChartResolver;
  readonly signer: PinSigner;
  readonly ownerOf: OwnerOf;
  readonly strategies: RolloutStrategies;
  readonly awaited: Pick<AwaitedApps, "cycleOf">;
  readonly references: MissingReferences;
}

export function bundlePreparer(deps: PrepareDeps): PrepareBundle {
  // Contents are packed once for each spec, so the same Bundle has to result in the identical spec.
  const derived = new WeakMap<Bundle["spec"], DerivedSpec>();
  const withStrategies = new WeakMap<Bundle["spec"], Bundle["spec"]>();

  return async function prepare(bundle, status, context) {
    const release = releaseOfBundle(bundle);
    const prepared = await prepareRelease(bundle, release, status, context);
    return prepared.kind === "deployable" ? withStrategy(prepared, bundle, release) : prepared;
  };

  /** The strategy of the RolloutPolicy that it names takes the place of the name, whatever front end it is of. */
  function withStrategy(prepared: Deployable, bundle: Bundle, { spec }: PlannedRelease): Prepared {
    const { remarks, ...others } = prepared;
    const error = strategyError(bundle, spec);
    if (error !== undefined) {
      const { resolution, nextAtMs } = others;
      const accepted = notAccepted(error, remarks);
      return {
        kind: "notAccepted",
        accepted,
        error,
        ...(resolution !== undefined && { resolution }),
        nextAtMs,
      };
    }
    const all = [...remarks, ...deps.references.remarksOn(bundle)];
    return { ...prepared, remarks: all, spec: specWithStrategy(prepared.spec, bundle) };
  }

  function specWithStrategy(spec: Bundle["spec"], bundle: Bundle): Bundle["spec"] {
    const rolloutStrategy = deps.strategies.strategyOf(bundle);
    if (!bundle.spec.rolloutStrategy?.policy || rolloutStrategy === undefined) return spec;
    const known = withStrategies.get(spec);
    if (known?.rolloutStrategy === rolloutStrategy) return known;
    const resolved = { ...spec, rolloutStrategy };
    withStrategies.set(spec, resolved);
    return resolved;
  }

  /** What can only be said where other objects are known. */
  function strategyError(bundle: Bundle, spec: PlannedRelease["spec"]): AppError | undefined {
    const owner = bundle.spec.rolloutStrategy?.policy ? ownerOf(bundle) : undefined;
    const problem = deps.strategies.problemOf(bundle, spec, owner);
    if (problem !== undefined) return new AppError(hubErrors.ROLLOUT_POLICY_INVALID, problem);
    const cycle = deps.awaited.cycleOf(bundle);
    return cycle === undefined ? undefined : new AppError(hubErrors.ROLLOUT_GATES_CIRCULAR, cycle);
  }

  async function prepareRelease(
    bundle: Bundle,
    release: PlannedRelease,
    status: BundleStatus | undefined,
    context: PrepareContext,
  ): Promise<Prepared> {
    const planned = { bundle, release, policies: policiesFor(deps, release) };
    if (isMadeByHub(bundle))
      return isOfLivingOwner(bundle) ? prepareMade(planned) : { kind: "held" };
    return isAppliedByHand(bundle, deps.helmOps.get(keyOf(bundle)))
      ? prepareApplied(planned, status, context)
      : prepareMade(planned);
  }

  function isMadeByHub(bundle: Bundle): boolean {
    return (
      bundle.spec.helmOpOptions?.origin !== undefined && deps.signer.pinsOf(bundle) !== undefined
    );
  }

  /** The object of another front end that its origin names. */
  function ownerOf({ metadata: { namespace = "" }, spec }: Bundle): KubeObject | undefined {
    const { origin } = spec.helmOpOptions ?? {};
    return origin && deps.ownerOf(origin.kind, keyOf({ namespace, name: origin.name }));
  }

  /** Otherwise a Bundle that the hub signed earlier could be applied again, with an account that its HelmRelease lost. */
  function isOfLivingOwner(bundle: Bundle): boolean {
    const { origin } = bundle.spec.helmOpOptions ?? {};
    if (origin?.uid === undefined) return false;
    const owner = ownerOf(bundle)?.metadata;
    return (
      owner?.uid === origin.uid &&
      owner.generation === origin.generation &&
      owner.deletionTimestamp === undefined
    );
  }

  /** A Bundle of another front end, which has resolved its charts. */
  function prepareMade({ bundle, release, policies }: PlannedBundle): Prepared {
    // The controller of its object overwrites pins that others write.
    if (deps.signer.pinsOf(bundle) === undefined) return { kind: "waiting" };
    // The rest of the spec has no signature, so somebody may have written what only its origin may have.
    if (reservedFormProblem(release.spec, release.source.secretName) !== undefined)
      return { kind: "waiting" };
    const violation = judge(deps, policies, release);
    if (violation === undefined) {
      const spec = specOf({ bundle, noNamespaces: forbidsNamespaces(policies) });
      return { kind: "deployable", spec, remarks: [] };
    }
    return isDefaulted({ release, policies })
      ? { kind: "waiting" }
      : { kind: "notAccepted", accepted: notAccepted(violation), error: violation };
  }

  /** Whether the defaults of its Policies are all that it lacks, which the HelmOp's controller writes into it. */
  function isDefaulted({ release, policies }: Omit<PlannedBundle, "bundle">): boolean {
    if (release.origin !== undefined) return false;
    return judge(deps, policies, withDefaultsOf(policies, release)) === undefined;
  }

  async function prepareApplied(
    { bundle, release, policies }: PlannedBundle,
    status: BundleStatus | undefined,
    context: PrepareContext,
  ): Promise<Prepared> {
    const remarks = remarksOnBundle(bundle);
    const before = resolutionStateOf(status);
    const handled = handledOf(status);
    const kept: BundleResolution = { state: before, handled: handled.reconcile };
    const error = validateBundle(bundle) ?? judge(deps, policies, release);
    if (error !== undefined)
      return {
        kind: "notAccepted",
        accepted: notAccepted(error, remarks),
        error,
        resolution: kept,
      };
    const options = {
      authorities: authoritiesOf(bundle),
      showsResponses: policies.some(limitsRepositories),
    };
    const access = await deps.access.of(release, options).catch(AppError.from);
    if (access instanceof AppError) {
      const accepted = notAccepted(access, remarks);
      return { kind: "notAccepted", accepted, error: access, isRead: true, resolution: kept };
    }
    const open = openRequests(release, handled);
    const notesWith = ({ pins }: ResolutionState, problem: string | undefined) => [
      ...notesOn(pins),
      ...(problem === undefined ? [] : [problem]),
      ...remarks,
    ];
    const onRetrying = (startedAtMs: number): void =>
      context.onRetrying?.(notesWith(before, attemptText(before, startedAtMs)));
    const inputs = { release, state: before, open, access, onRetrying };
    const found = await deps.charts.resolve(inputs, context);
    const { state, nextAtMs } = found;
    const resolution = { state, handled: open.reconcile ?? handled.reconcile };
    const problem = state.attempt.error === undefined ? state.pinCheck?.error : attemptText(state);
    const notes = notesWith(state, problem);
    if (!isAllPinned(release, state)) {
      const message = notes.join("; ");
      const accepted = { status: "False", reason: chartNotResolved, message } as const;
      return { kind: "notAccepted", accepted, resolution, nextAtMs };
    }
    // Only stored pins are deployed: another leader could resolve others.
    if (!isDeepStrictEqual(state.pins, bundle.status?.pins ?? []))
      return { kind: "resolved", resolution };
    const spec = specOf({
      bundle,
      pins: state.pins,
      caBundle: access.caBundle,
      noNamespaces: forbidsNamespaces(policies),
    });
    return { kind: "deployable", spec, remarks: notes, resolution, nextAtMs };
  }

  function specOf(source: SpecSource): Bundle["spec"] {
    const { spec } = source.bundle;
    const known = derived.get(spec);
    if (
      known?.noNamespaces === source.noNamespaces &&
      known.caBundle === source.caBundle &&
      isDeepStrictEqual(known.pins, source.pins)
    )
      return known.spec;
    const fresh = { ...source, spec: deriveSpec(source) };
    derived.set(spec, fresh);
    return fresh.spec;
  }
}

/** A Bundle, the release that it is, and the Policies that it obeys. */
interface PlannedBundle {
  readonly bundle: Bundle;
  readonly release: PlannedRelease;
  readonly policies: readonly MergedPolicy[];
}

interface DerivedSpec extends Omit<SpecSource, "bundle"> {
  readonly spec: Bundle["spec"];
}
