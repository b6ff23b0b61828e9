/** HelmOps and Bundles with the status that their reconcile decided, before it is summarized. */
import type { Bundle, HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import { setCondition } from "@flotilla/shared/conditions";
import { now } from "./objects.ts";

/** What a reconcile decided about a HelmOp. */
export interface HelmOpDecision extends Partial<HelmOpStatus> {
  /** True, or why it is not accepted; absent while its chart is being resolved. */
  readonly accepted?: true | string;
}

export const accepted: HelmOpDecision = { accepted: true };

/** One of generation 1, unless another one is given. */
export function decidedHelmOp(helmOp: HelmOp, decision: HelmOpDecision): HelmOp {
  const { accepted: isAccepted, ...fields } = decision;
  const observedGeneration = fields.observedGeneration ?? 1;
  const { polling: _, ...before } = helmOp.status ?? {};
  const conditions =
    isAccepted === undefined
      ? (before.conditions ?? []).filter(({ type }) => type !== "Accepted")
      : setCondition(
          before.conditions,
          isAccepted === true
            ? { type: "Accepted", status: "True", observedGeneration }
            : {
                type: "Accepted",
                status: "False",
                reason: "Invalid",
                message: isAccepted,
                observedGeneration,
              },
          now,
        );
  const rejected = typeof isAccepted === "string" ? { rejectedCode: "HELMOP_INVALID" } : {};
  return {
    ...helmOp,
    status: { ...before, ...rejected, ...fields, observedGeneration, conditions },
  };
}

export interface BundleDecision {
  readonly generation?: number;
  readonly targets?: number;
  /** Why it is not accepted. */
  readonly error?: string;
  /** Remarks on an accepted one. */
  readonly notes?: string;
  readonly unchecked?: Readonly<Record<string, string>>;
}

/** One of generation 1 with one target, unless others are given. */
export function decidedBundle(
  bundle: Bundle,
  { generation = 1, targets = 1, error, notes = "", unchecked }: BundleDecision = {},
): Bundle {
  const condition =
    error === undefined
      ? ({ type: "Accepted", status: "True", message: notes } as const)
      : ({ type: "Accepted", status: "False", reason: "Invalid", message: error } as const);
  return {
    ...bundle,
    status: {
      ...bundle.status,
      observedGeneration: generation,
      targets,
      ...(unchecked !== undefined && { uncheckedContents: unchecked }),
      conditions: setCondition(
        bundle.status?.conditions,
        { ...condition, observedGeneration: generation },
        now,
      ),
    },
  };
}
