/** The status of a HelmOp, from its intent and its Bundle. Pure. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api/helm-op.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import type { Tally } from "../rollup/tally.ts";
import type { BundleTargeting, HelmOpIntent } from "./intent.ts";
import { isNews } from "./news.ts";
import { bundleVerdict, type Verdict } from "./ready-condition.ts";
import { rollUp } from "./roll-up.ts";

export interface HelmOpInputs {
  readonly helmOp: HelmOp;
  readonly intent: HelmOpIntent;
  readonly bundle: Bundle | undefined;
  readonly targeting: BundleTargeting | undefined;
  readonly summary: BundleSummary;
  readonly tally: Tally;
  /** The objects of its Bundle over all clusters, and by cluster, in bounds. */
  readonly resources: NonNullable<HelmOpStatus["resources"]>;
  readonly perClusterResourceCounts: NonNullable<HelmOpStatus["perClusterResourceCounts"]>;
  /** RFC 3339. */
  readonly now: string;
}

export function helmOpStatus(inputs: HelmOpInputs): HelmOpStatus {
  const { helmOp, intent, summary, tally, now } = inputs;
  const before = helmOp.status;
  const observedGeneration = intent.generation;
  const conditions = setConditions(
    before?.conditions ?? [],
    [
      intent.accepted.ok
        ? {
            type: "Accepted",
            status: "True",
            reason: "",
            message: intent.accepted.message ?? "",
            observedGeneration,
          }
        : {
            type: "Accepted",
            status: "False",
            reason: "Error",
            message: intent.accepted.message,
            observedGeneration,
          },
      ...(intent.polled === undefined
        ? []
        : [
            intent.polled.error === undefined
              ? ({
                  type: "Polled",
                  status: "True",
                  reason: "",
                  message: "",
                  observedGeneration,
                } as const)
              : ({
                  type: "Polled",
                  status: "False",
                  reason: "Error",
                  message: intent.polled.error,
                  observedGeneration,
                } as const),
          ]),
      { type: "Ready", ...readyVerdict(inputs), observedGeneration },
    ],
    now,
  ).filter((condition) => condition.type !== "Polled" || intent.polled !== undefined);
  return {
    ...before,
    ...rollUp(summary, tally),
    resources: inputs.resources,
    perClusterResourceCounts: inputs.perClusterResourceCounts,
    conditions,
    ...(intent.polled !== undefined && { lastPollingTriggered: intent.polled.at }),
    ...(intent.version !== undefined && { version: intent.version }),
  };
}

/** A change that a person or a script waits for. */
export function isHelmOpNews(before: HelmOpStatus | undefined, after: HelmOpStatus): boolean {
  if (before?.version !== after.version) return true;
  return ["Accepted", "Polled", "Ready"].some((type) =>
    isNews(findCondition(before?.conditions, type), findCondition(after.conditions, type)),
  );
}

function readyVerdict({ helmOp, intent, bundle, targeting, summary }: HelmOpInputs): Verdict {
  if (intent.generation !== helmOp.metadata.generation)
    return { status: "Unknown", reason: "Progressing", message: "reading the change" };
  if (!intent.accepted.ok && bundle === undefined)
    return { status: "False", reason: "Error", message: intent.accepted.message };
  const current =
    targeting !== undefined && targeting.generation === bundle?.metadata.generation
      ? targeting
      : undefined;
  const verdict = bundleVerdict(current, summary, "Cluster");
  // That it is as it should be is true of what was accepted before, and `kubectl get` shows nothing but this message.
  return intent.accepted.ok || verdict.status !== "True"
    ? verdict
    : { ...verdict, message: `as accepted before; not accepted: ${intent.accepted.message}` };
}
