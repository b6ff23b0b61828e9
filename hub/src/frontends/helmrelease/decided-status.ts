/** The part of a HelmRelease's status that its reconcile decides. Pure. */
import { requestOf, requestTokens } from "@flotilla/shared/api/names";
import type { HelmRelease, HelmReleaseStatus } from "@flotilla/shared/flux";
import { withFluxCondition } from "../../sources/index.ts";
import { chartKey, chartSourceOf, chartVersion, type ReleaseChart } from "./chart.ts";

/** What a reconcile of a HelmRelease decides. */
export interface HelmReleaseDecision {
  /** Undefined: it can be deployed. */
  readonly problem?: { readonly reason: string; readonly message: string } | undefined;
  readonly chart?: ReleaseChart | undefined;
}

/** What its status is made from. */
export interface DecidedFields extends HelmReleaseDecision {
  /** It was rejected before its HelmChart was created, changed or deleted. */
  readonly isRejected?: boolean;
  /** RFC 3339. */
  readonly now: string;
}

export function decidedStatus(
  release: HelmRelease,
  status: HelmReleaseStatus | undefined,
  { problem, chart, isRejected, now }: DecidedFields,
): HelmReleaseStatus {
  const { generation = 0 } = release.metadata;
  const ref = chartSourceOf(release);
  const { helmChart: earlier, lastAttemptedRevisionDigest, ...kept } = status ?? {};
  const helmChart = isRejected === true ? earlier : ref?.isGenerated ? chartKey(ref) : undefined;
  const accepted =
    problem === undefined
      ? ({ status: "True", reason: "Accepted", message: "the chart is resolved" } as const)
      : ({ status: "False", ...problem } as const);
  return {
    ...kept,
    ...(helmChart !== undefined && { helmChart }),
    ...(chart === undefined
      ? lastAttemptedRevisionDigest !== undefined && { lastAttemptedRevisionDigest }
      : {
          lastAttemptedGeneration: generation,
          lastAttemptedRevision: chartVersion(chart),
          // As in Flux, of an OCIRepository alone.
          ...(ref?.kind === "OCIRepository" &&
            chart.pin.kind === "oci" && { lastAttemptedRevisionDigest: chart.pin.manifestDigest }),
        }),
    ...handled(release),
    conditions: withFluxCondition(
      status?.conditions,
      { type: "Accepted", ...accepted },
      { generation, now },
    ),
  };
}

/** While it is not reconciled: its generation counts as observed and its request as handled, as in Flux. */
export function suspendedStatus(
  release: HelmRelease,
  status: HelmReleaseStatus | undefined,
): HelmReleaseStatus | undefined {
  if ((status?.conditions ?? []).length === 0) return undefined;
  const { lastHandledReconcileAt } = handled(release);
  return {
    ...status,
    observedGeneration: release.metadata.generation ?? 0,
    ...(lastHandledReconcileAt !== undefined && { lastHandledReconcileAt }),
  };
}

/** Requests by annotation, which each reconcile handles. */
function handled({ metadata }: HelmRelease): Partial<HelmReleaseStatus> {
  const request = requestOf(requestTokens(metadata));
  if (request === undefined) return {};
  const { token, force, reset } = request;
  return {
    lastHandledReconcileAt: token,
    ...(force && { lastHandledForceAt: token }),
    ...(reset && { lastHandledResetAt: token }),
  };
}
