/**
 * The readable parts of a status, from aggregates: the summary, the display and the Ready message. Pure; the wording is
 * Fleet's.
 */

import {
  type BundleDeployment,
  type BundleState,
  type BundleSummary,
  bundleStates,
  type ModifiedStatus,
  maxListed,
  maxListedOfOne,
} from "@flotilla/shared/api";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import type { Aggregate } from "./bundle-aggregate.ts";
import { deploymentMessage, stateOf } from "./deployment-state.ts";
import { modifiedText, nonReadyText } from "./object-text.ts";

/** The longest message of one BundleDeployment in a roll-up; the whole one is on the BundleDeployment. */
const messageChars = 512;

const summaryFields = {
  ErrApplied: "errApplied",
  WaitApplied: "waitApplied",
  Modified: "modified",
  OutOfSync: "outOfSync",
  Pending: "pending",
  NotReady: "notReady",
  Offline: "offline",
} as const satisfies Partial<Record<BundleState, keyof BundleSummary>>;

/** The longest text of one object in a roll-up. */
const objectChars = 128;

type NamedDeployment = NonNullable<BundleSummary["nonReadyResources"]>[number];

export interface SummaryInput {
  readonly aggregate: Pick<Aggregate, "states" | "total" | "deployments">;
  /** Targets that have no BundleDeployment yet. */
  readonly pending: number;
  readonly lookUp: (key: ObjectKey) => BundleDeployment | undefined;
  /** What the reader calls a BundleDeployment: on a Bundle the cluster, elsewhere the Bundle. */
  readonly nameOf: (deployment: BundleDeployment) => string;
  /** Since when its cluster is offline; "" where no agent ever connected. */
  readonly unheardSince?: (deployment: BundleDeployment) => string;
}

export function summarize(input: SummaryInput): BundleSummary {
  const { aggregate, pending } = input;
  const counts = { ...aggregate.states, Pending: aggregate.states.Pending + pending };
  const named = namedDeployments(input);
  return {
    ...Object.fromEntries(
      Object.entries(summaryFields)
        .map(([state, field]) => [field, counts[state as BundleState]] as const)
        .filter(([, count]) => count > 0),
    ),
    ready: counts.Ready,
    desiredReady: aggregate.total + pending,
    ...(named.length > 0 && { nonReadyResources: named }),
  };
}

/** The worst state that anything is in; "" when all is ready. */
export function worstState(summary: BundleSummary): BundleState | "" {
  return bundleStates.find((state) => state !== "Ready" && countOf(summary, state) > 0) ?? "";
}

/**
 * What is not ready and why: `NotReady(1) [Cluster fleet-default/paris: deployment.apps web/web: 0 of 2 ready]`. `kind`
 * is the noun for the name that `nameOf` returns.
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
  const further = objectTexts(summary).filter(
    (text) => !sentences.some((sentence) => sentence.includes(text)),
  );
  return [...sentences, ...further].join("; ");
}

/** The first objects that are not as they should be, each once, whatever the number of clusters. */
function objectTexts({ nonReadyResources }: BundleSummary): readonly string[] {
  const named = nonReadyResources ?? [];
  const modified = named.flatMap(({ modifiedStatus }) => (modifiedStatus ?? []).map(modifiedText));
  const nonReady = named.flatMap(({ nonReadyStatus }) => (nonReadyStatus ?? []).map(nonReadyText));
  return [modified, nonReady].flatMap((texts) =>
    [...new Set(texts)].sort().slice(0, maxListedOfOne),
  );
}

function countOf(summary: BundleSummary, state: Exclude<BundleState, "Ready">): number {
  return summary[summaryFields[state]] ?? 0;
}

/** How many are in a state that needs attention; 0 for Ready, and for every word that is not a state of a deployment. */
export function countIn(summary: BundleSummary, state: string): number {
  const found = bundleStates.find((each) => each === state);
  return found === undefined || found === "Ready" ? 0 : countOf(summary, found);
}

/** The first few by name within the worst states first: the same ones as long as nothing changes. */
function namedDeployments({
  aggregate,
  lookUp,
  nameOf,
  unheardSince = () => "",
}: SummaryInput): readonly NamedDeployment[] {
  const named: NamedDeployment[] = [];
  for (const state of bundleStates) {
    if (state === "Ready") continue;
    for (const key of aggregate.deployments.get(state)?.first(maxListed - named.length) ?? []) {
      const deployment = lookUp(key);
      if (deployment === undefined) continue;
      const message =
        state === "Offline"
          ? unheardText(deployment, unheardSince(deployment))
          : cutText(deploymentMessage(deployment), messageChars);
      named.push({
        name: nameOf(deployment),
        bundleState: state,
        ...(message !== "" && { message }),
        // The state of objects in an offline cluster is not known; the BundleDeployment keeps the last one.
        ...(state !== "Offline" && namedObjects(deployment)),
      });
    }
  }
  return named;
}

/** The last known state of a deployment in an offline cluster. */
export function unheardText(deployment: BundleDeployment, since: string): string {
  if (since === "") return "no agent has connected yet";
  const { version = "", appliedDeploymentID = "" } = deployment.status ?? {};
  const known = [appliedDeploymentID === "" ? "" : version, stateOf(deployment)].filter(Boolean);
  const message = deploymentMessage(deployment);
  const text = `no agent connected since ${since}; last known state: ${known.join(" ")}`;
  return cutText(message === "" ? text : `${text}, ${message}`, messageChars);
}

/** All of them as text, those first that need no action: `3 ready, 1 failing, 2 offline`. */
export function countsText(summary: BundleSummary): string {
  const { ready, errApplied = 0, modified = 0, notReady = 0, offline = 0 } = summary;
  const { waitApplied = 0, outOfSync = 0, pending = 0 } = summary;
  return [
    [ready, "ready"],
    [errApplied, "failing"],
    [modified, "modified"],
    [notReady, "not ready"],
    [waitApplied + outOfSync + pending, "waiting"],
    [offline, "offline"],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

/** What is not as it should be in one deployment, in short. */
function namedObjects({
  status,
}: BundleDeployment): Pick<NamedDeployment, "modifiedStatus" | "nonReadyStatus"> {
  const modified = (status?.modifiedStatus ?? []).slice(0, maxListedOfOne);
  const nonReady = (status?.nonReadyStatus ?? []).slice(0, maxListedOfOne);
  return {
    ...(modified.length > 0 && {
      modifiedStatus: modified.map(withoutChanges),
    }),
    ...(nonReady.length > 0 && {
      nonReadyStatus: nonReady.map(({ summary, ...object }) => ({
        ...object,
        ...(summary !== undefined && {
          summary: {
            ...summary,
            ...(summary.message?.[0] && { message: [cutText(summary.message[0], objectChars)] }),
          },
        }),
      })),
    }),
  };
}

/** The BundleDeployment has them. */
function withoutChanges({
  patch: _patch,
  fields: _fields,
  manager: _manager,
  time: _time,
  ...object
}: ModifiedStatus): ModifiedStatus {
  return object;
}
