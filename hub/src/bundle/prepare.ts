/** Whether a Bundle may be handed out as it is now, and with which spec. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { leftOutLabelRemarks } from "../frontend/ignored-labels.ts";
import { unknownBundleFieldRemarks } from "../frontend/unknown-fields.ts";
import { notCarriedOutRemarks } from "../frontend/unsupported-fields.ts";
import { withDefaults } from "../policy/defaults.ts";
import { forbidsNamespaces, mergePolicies } from "../policy/merge-policies.ts";
import type { Patterns } from "../policy/patterns.ts";
import { violationOf } from "../policy/violation.ts";
import type { PinSeals } from "../resolve/pin-signature.ts";
import { type HandledRequests, openRequests } from "../resolve/requests.ts";
import { asHelmOp, isDirect, resolvedSpec } from "./as-helm-op.ts";
import type { BundleResolver } from "./resolve-bundle.ts";
import { bundleRefusal } from "./validate.ts";

export type Prepared =
  /** `retryMs`: when what somebody asked for is tried again, which came to nothing. */
  (
    | { readonly kind: "deployable"; readonly spec: Bundle["spec"]; readonly retryMs?: number }
    /** Nothing may change; what is deployed stays. */
    | { readonly kind: "held"; readonly error: AppError; readonly retryMs?: number }
    /** For a write that has this looked at again. */
    | { readonly kind: "waiting" }
  ) & {
    /** What its charts came to, to be kept in its status; none of a HelmOp's, whose pins are in its spec. */
    readonly pins?: readonly ChartPin[];
    /** The request to read everything anew that was handled last, of a Bundle that was not made for a HelmOp. */
    readonly handled?: string | undefined;
    /** What its author should know, as sentences. */
    readonly remarks?: readonly string[];
  };

/** What is kept of a Bundle that was not made for a HelmOp. */
export interface KeptOfBundle {
  readonly pins: readonly ChartPin[];
  readonly handled: string | undefined;
}

export type PrepareBundle = (
  bundle: Bundle,
  kept: KeptOfBundle,
  signal: AbortSignal,
) => Promise<Prepared>;

export interface PrepareDeps {
  readonly helmOps: Store<HelmOp>;
  readonly policies: Store<Policy>;
  readonly patterns: Patterns;
  readonly charts: BundleResolver;
  readonly seals: PinSeals;
}

export function bundlePreparer(deps: PrepareDeps): PrepareBundle {
  // What is packed is remembered by the spec, so the same Bundle has to come to the very same spec.
  const derived = new WeakMap<Bundle["spec"], DerivedSpec>();

  return async function prepare(bundle, kept, signal) {
    const policy = mergePolicies(
      deps.policies.byIndex(byNamespace, bundle.metadata.namespace ?? ""),
    );
    const intent = asHelmOp(bundle);
    const noNamespaces = forbidsNamespaces(policy);

    if (!isDirect(bundle, deps.helmOps.get(keyOf(bundle)))) {
      const violation = violationOf(policy, intent, deps.patterns);
      // Pins that somebody wrote are replaced by the HelmOp's own loop, which writes the Bundle anew.
      if (deps.seals.pinsOf(bundle) === undefined) return { kind: "waiting" };
      if (violation === undefined)
        return { kind: "deployable", spec: specOf({ bundle, noNamespaces }), pins: [] };
      // What a default will mend is mended by the HelmOp's own loop, which writes the Bundle anew.
      const isMendable =
        violationOf(policy, withDefaults(policy, intent), deps.patterns) === undefined;
      return isMendable ? { kind: "waiting" } : { kind: "held", error: violation };
    }

    const ownRemarks = [
      ...unknownBundleFieldRemarks(bundle),
      ...leftOutLabelRemarks(intent),
      ...notCarriedOutRemarks(intent),
    ];
    const refusal = bundleRefusal(bundle) ?? violationOf(policy, intent, deps.patterns);
    if (refusal !== undefined)
      return { kind: "held", error: refusal, ...kept, remarks: ownRemarks };
    const asked = openRequests(intent, handledRequests(kept)).reconcile;
    const { pins, failure, caBundle, ...found } = await deps.charts.resolve(bundle, {
      known: kept.pins,
      isAsked: asked !== undefined,
      signal,
    });
    if (failure?.isPinned === false) {
      const { isPinned: _, ...held } = failure;
      const remarks = [...found.remarks, ...ownRemarks];
      return { kind: "held", ...held, pins, handled: kept.handled, remarks };
    }
    // What has a pin is handed out; that it could not be looked up once more is worth knowing.
    const missed = failure === undefined ? [] : [failure.error.message];
    const remarks = [...found.remarks, ...missed, ...ownRemarks];
    // What somebody asks for is open until it was done.
    const handled = failure === undefined ? (asked ?? kept.handled) : kept.handled;
    // Only what is kept is handed out: otherwise a hub that starts anew could come to something else.
    if (!isDeepStrictEqual(pins, bundle.status?.pins ?? []))
      return { kind: "waiting", pins, handled, remarks };
    const spec = specOf({ bundle, pins, caBundle, noNamespaces });
    return {
      kind: "deployable",
      spec,
      pins,
      handled,
      remarks,
      ...(asked !== undefined && failure?.retryMs !== undefined && { retryMs: failure.retryMs }),
    };
  };

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

function handledRequests({ handled }: KeptOfBundle): HandledRequests {
  return handled === undefined ? {} : { reconcile: handled };
}

interface SpecSource {
  readonly bundle: Bundle;
  readonly pins?: readonly ChartPin[];
  readonly caBundle?: string | undefined;
  readonly noNamespaces: boolean;
}

interface DerivedSpec extends Omit<SpecSource, "bundle"> {
  readonly spec: Bundle["spec"];
}

function deriveSpec({ bundle, pins, caBundle, noNamespaces }: SpecSource): Bundle["spec"] {
  const spec = pins === undefined ? bundle.spec : resolvedSpec(bundle, pins, caBundle);
  if (!noNamespaces) return spec;
  return {
    ...spec,
    createNamespace: false,
    targets: (spec.targets ?? []).map((target) => ({ ...target, createNamespace: false })),
  };
}
