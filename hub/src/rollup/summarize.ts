/** From totals to what a person reads: the summary, the display and the Ready message. Pure; the wording is Fleet's. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import {
  type BundleState,
  type BundleSummary,
  bundleStates,
} from "@flotilla/shared/api/summary.ts";
import type { ObjectKey } from "@flotilla/shared/kube/object.ts";
import { messageOfDeployment } from "./deployment-state.ts";
import type { Tally } from "./tally.ts";

/** How many BundleDeployments that are not ready a summary names. */
const namedAtMost = 10;

/** The longest message of one BundleDeployment in a roll-up; the whole one is on the BundleDeployment. */
const messageChars = 512;

const summaryFields = {
  ErrApplied: "errApplied",
  WaitApplied: "waitApplied",
  Modified: "modified",
  OutOfSync: "outOfSync",
  Pending: "pending",
  NotReady: "notReady",
} as const satisfies Partial<Record<BundleState, keyof BundleSummary>>;

export interface SummaryInput {
  readonly tally: Tally;
  /** Targets that have no BundleDeployment yet. */
  readonly pending: number;
  readonly lookUp: (key: ObjectKey) => BundleDeployment | undefined;
  /** What the reader calls a BundleDeployment: on a Bundle the cluster, elsewhere the Bundle. */
  readonly nameOf: (deployment: BundleDeployment) => string;
}

export function summarize({ tally, pending, lookUp, nameOf }: SummaryInput): BundleSummary {
  const counts = { ...tally.states, Pending: tally.states.Pending + pending };
  const named = namedDeployments(tally, lookUp, nameOf);
  return {
    ...Object.fromEntries(
      Object.entries(summaryFields)
        .map(([state, field]) => [field, counts[state as BundleState]] as const)
        .filter(([, count]) => count > 0),
    ),
    ready: counts.Ready,
    desiredReady: tally.total + pending,
    ...(named.length > 0 && { nonReadyResources: named }),
  };
}

/** The worst state that anything is in; "" when all is ready. */
export function worstState(summary: BundleSummary): BundleState | "" {
  return bundleStates.find((state) => state !== "Ready" && countOf(summary, state) > 0) ?? "";
}

/**
 * What is not ready and why: `NotReady(1) [Cluster fleet-default/paris: deployment.apps web/web: 0 of 2 ready]`.
 * `kind` is the word for what `nameOf` named.
 */
export function readyMessage(summary: BundleSummary, kind: "Bundle" | "Cluster"): string {
  const sentences = bundleStates.flatMap((state) => {
    const count = state === "Ready" ? 0 : countOf(summary, state);
    if (count === 0) return [];
    const example = summary.nonReadyResources?.find((resource) => resource.bundleState === state);
    if (example === undefined) return [`${state}(${count})`];
    return [
      `${state}(${count}) [${kind} ${example.name}${example.message ? `: ${example.message}` : ""}]`,
    ];
  });
  return sentences.join("; ");
}

function countOf(summary: BundleSummary, state: Exclude<BundleState, "Ready">): number {
  return summary[summaryFields[state]] ?? 0;
}

/** The first few by name within the worst states first: the same ones as long as nothing changes. */
function namedDeployments(
  tally: Tally,
  lookUp: (key: ObjectKey) => BundleDeployment | undefined,
  nameOf: (deployment: BundleDeployment) => string,
): NonNullable<BundleSummary["nonReadyResources"]> {
  const named: { name: string; bundleState: string; message?: string }[] = [];
  for (const state of bundleStates) {
    const keys = tally.unready.get(state);
    if (keys === undefined || keys.size === 0) continue;
    for (const key of smallest(keys, namedAtMost - named.length)) {
      const deployment = lookUp(key);
      if (deployment === undefined) continue;
      // Half of a pair of surrogates is not valid UTF-8.
      const message = messageOfDeployment(deployment)
        .slice(0, messageChars)
        .replace(/[\uD800-\uDBFF]$/, "");
      named.push({
        name: nameOf(deployment),
        bundleState: state,
        ...(message !== "" && { message }),
      });
    }
    if (named.length >= namedAtMost) break;
  }
  return named;
}

/** The first `count` in order, without sorting thousands for the sake of ten. */
function smallest(keys: ReadonlySet<ObjectKey>, count: number): readonly ObjectKey[] {
  const found: ObjectKey[] = [];
  for (const key of keys) {
    const last = found.at(-1);
    if (found.length >= count && last !== undefined && key >= last) continue;
    const at = found.findIndex((other) => key < other);
    found.splice(at < 0 ? found.length : at, 0, key);
    if (found.length > count) found.pop();
  }
  return found;
}
