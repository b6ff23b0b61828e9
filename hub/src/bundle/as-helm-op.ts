/**
 * Bundles that a person applied, without a HelmOp. Such a Bundle is an intent like a HelmOp, so it is read as one: what
 * refuses, resolves and plans a HelmOp does the same for it. Its spec is its author's and is never written; what is to be
 * remembered of it is in its status. Pure.
 */
import type { Bundle, ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { isBundleOf } from "../cache/keys.ts";
import { planBundle } from "../helmop/plan.ts";

/**
 * Whether a Bundle speaks for itself. A label alone does not make it a HelmOp's: the pins in its spec are believed only
 * where a HelmOp keeps them.
 */
export function isDirect(bundle: Bundle, helmOp: HelmOp | undefined): boolean {
  return helmOp === undefined || !isBundleOf(bundle, helmOp);
}

/** Its `kind` stays, for messages. */
export function asHelmOp(bundle: Bundle): HelmOp {
  const { helmOpOptions, ...spec } = bundle.spec;
  const { helmOpSecretName, helmOpInsecureSkipTLSVerify } = helmOpOptions ?? {};
  return {
    apiVersion: bundle.apiVersion ?? "",
    kind: "Bundle",
    metadata: bundle.metadata,
    spec: {
      ...spec,
      ...(helmOpSecretName && { helmSecretName: helmOpSecretName }),
      ...(helmOpInsecureSkipTLSVerify !== undefined && {
        insecureSkipTLSVerify: helmOpInsecureSkipTLSVerify,
      }),
    },
  };
}

/**
 * The spec that is handed out: every version resolved. Without targets it goes nowhere, unlike a HelmOp. `caBundle`:
 * authorities that are trusted where its Secret names none, as PEM.
 */
export function resolvedSpec(
  bundle: Bundle,
  pins: readonly ChartPin[],
  caBundle?: string,
): Bundle["spec"] {
  const { spec } = planBundle(asHelmOp(bundle), pins, caBundle);
  return (bundle.spec.targets ?? []).length === 0 ? { ...spec, targets: [] } : spec;
}
