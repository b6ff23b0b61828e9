/** Asks many agents what would change in their clusters, at most so many at a time, and one of each group for the text. */
import { maxPlanTextBytes } from "@flotilla/shared/plan";
import { type GroupedPlans, mostGroups } from "./group-plans.ts";
import type { AskAgent, PlanOutcome, PlanTarget } from "./plan-outcome.ts";

/** Agents that are asked at the same time. */
export const parallelPlans = 200;
/** The texts of one plan together, in bytes. */
const mostTextBytes = 1024 * 1024;

/**
 * The outcome of each target, by key of its cluster. Only results are kept: what agents answer besides is dropped at once. Throws the
 * reason of `signal` when it aborts.
 */
export async function askFleet(
  targets: readonly PlanTarget[],
  ask: AskAgent,
  { key, signal }: { readonly key: Uint8Array; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, PlanOutcome>> {
  const outcomes = new Map<string, PlanOutcome>();
  const waiting = [...targets].reverse();
  async function work(): Promise<void> {
    for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
      signal.throwIfAborted();
      const answered = await ask(target, { key, withText: false }, signal);
      const outcome =
        answered.kind === "answered"
          ? ({ kind: "known", result: answered.answer.result } as const)
          : answered;
      outcomes.set(target.cluster, outcome);
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallelPlans, targets.length) }, work));
  signal.throwIfAborted();
  return outcomes;
}

/** A group with the text of one of its clusters. */
export interface GroupText {
  /** The digest that the text is about. */
  readonly digest: string;
  /** Unified diffs. */
  readonly text: string;
}

/**
 * The texts of the first groups, by key of the cluster that has answered: of the one that still has the digest of its group. What
 * exceeds the limit of all together is left out.
 */
export async function askTexts(
  { groups }: Pick<GroupedPlans, "groups">,
  targets: ReadonlyMap<string, PlanTarget>,
  ask: AskAgent,
  { key, signal }: { readonly key: Uint8Array; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, GroupText>> {
  const texts = new Map<string, GroupText>();
  let bytes = 0;
  await Promise.all(
    groups.slice(0, mostGroups).map(async ({ clusters, digests, sample }) => {
      // The first may have changed, or be offline, since it was asked.
      for (const cluster of [sample, ...clusters.filter((each) => each !== sample)].slice(0, 3)) {
        const target = targets.get(cluster);
        if (target === undefined) continue;
        const answered = await ask(target, { key, withText: true }, signal);
        if (answered.kind !== "answered") continue;
        const { result, text } = answered.answer;
        const size = Buffer.byteLength(text);
        if (!digests.includes(result.digest) || size > maxPlanTextBytes) continue;
        if (bytes + size > mostTextBytes) return;
        bytes += size;
        texts.set(sample, { digest: result.digest, text });
        return;
      }
    }),
  );
  return texts;
}

/** What all clusters come to. */
export interface AskedPlan extends GroupedPlans {
  /** By `sample` of the group. */
  readonly texts: ReadonlyMap<string, GroupText>;
}
