/** What a request to reconcile has come to on each cluster, as the agents report it. Pure. */

import { keyOf, type ObjectRef } from "../../kubernetes/objects/index.ts";
import { versionSkew } from "../../runtime/buildinfo/index.ts";
import { listNames } from "../../text/text/index.ts";
import type { AgentCapability } from "./agent-capabilities.ts";
import type { AppKind } from "./apps/index.ts";
import type { BundleDeployment } from "./bundle-deployment.ts";
import type { Cluster } from "./cluster.ts";
import { describeRequest } from "./describe-request.ts";
import {
  bundleNameLabel,
  bundleNameOf,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
} from "./names/index.ts";

/** What one cluster answered. */
export interface RequestAnswer {
  /** `namespace/name`. */
  readonly cluster: string;
  /** A sentence without a full stop. */
  readonly text: string;
  /** The agent may still answer. */
  readonly isOpen: boolean;
}

/** Selects the BundleDeployments of an app. */
export function deploymentSelector(kind: AppKind, { namespace = "", name }: ObjectRef): string {
  return `${bundleNamespaceLabel}=${namespace},${bundleNameLabel}=${bundleNameOf(kind, name)}`;
}

/** `token`: the value of the request's annotation. `version`: of the hub. */
export function requestAnswers(
  deployments: readonly BundleDeployment[],
  clusters: readonly Cluster[],
  { token, version }: { readonly token: string; readonly version: string },
): readonly RequestAnswer[] {
  const statuses = new Map(clusters.map(({ metadata, status }) => [keyOf(metadata), status]));
  return deployments
    .map((deployment) => {
      const { labels = {} } = deployment.metadata;
      const cluster = `${labels[clusterNamespaceLabel] ?? ""}/${labels[clusterLabel] ?? ""}`;
      return { cluster, ...answerOf(deployment, statuses.get(cluster), { token, version }) };
    })
    .toSorted((one, other) => (one.cluster < other.cluster ? -1 : 1));
}

function answerOf(
  { metadata, spec, status }: BundleDeployment,
  ofCluster: Cluster["status"],
  { token, version }: { readonly token: string; readonly version: string },
): Omit<RequestAnswer, "cluster"> {
  const closed = (text: string) => ({ text, isOpen: false });
  const agent = ofCluster?.agent;
  if (status?.lastRequest?.token === token) return closed(describeRequest(status.lastRequest));
  if (metadata.deletionTimestamp !== undefined) return closed("the release is being removed");
  if (spec.suspend === true || spec.paused === true)
    return closed("it is suspended or paused, and the request stays open");
  const isSent = spec.requestedAt === token;
  const isOffSchedule = ofCluster?.scheduled === true && ofCluster.activeSchedule !== true;
  if (spec.offSchedule === true || (isOffSchedule && !isSent))
    return closed("the windows of its Schedules are closed, and the request waits for one to open");
  if (agent?.connected !== true)
    return closed("its agent is offline, and answers once it is connected again");
  if (!knowsRequest(agent, spec, version))
    return closed(
      `its agent has version ${agent.version}, which may not know this request or not answer it; upgrade the agent`,
    );
  // Requests to force go through the stages of a rollout, under their limits.
  if (!isSent && spec.promotion !== undefined)
    return { text: "it waits for its turn in the rollout of its app", isOpen: true };
  return { text: "its agent has not answered yet", isOpen: true };
}

/** As it says itself, and one that does not say what it can do as its version does. */
function knowsRequest(
  { capabilities, version = "" }: Agent,
  { correctDriftAt }: BundleDeployment["spec"],
  own: string,
): boolean {
  if (!capabilities) return !isOlder(version, own);
  const needed: readonly AgentCapability[] =
    correctDriftAt === undefined ? ["RequestResults"] : ["RequestResults", "CorrectDrift"];
  return needed.every((each) => capabilities.includes(each));
}

/** An agent of this version knows every request of this version. */
function isOlder(agent: string, own: string): boolean {
  const { kind } = versionSkew("agent", agent, own);
  // What is newer is a warning, too.
  return (
    (kind === "warning" || kind === "unsupported") &&
    agent.localeCompare(own, "en", { numeric: true }) < 0
  );
}

type Agent = NonNullable<NonNullable<Cluster["status"]>["agent"]>;

const maxLines = 5;

/** One line for clusters with the same answer, which names five of them; answers of most clusters come first. */
export function answerLines(answers: readonly RequestAnswer[]): readonly string[] {
  const byText = Map.groupBy(answers, ({ text }) => text);
  const groups = [...byText].toSorted(([, one], [, other]) => other.length - one.length);
  const left = groups.slice(maxLines).flatMap(([, answered]) => answered);
  const lines = groups.slice(0, maxLines).map(([text, answered]) => {
    const names = listNames(answered.map(({ cluster }) => cluster));
    return `${answered.length === 1 ? "Cluster" : "Clusters"} ${names}: ${text}`;
  });
  return left.length === 0
    ? lines
    : [
        ...lines,
        `${left.length === 1 ? "1 other Cluster" : `${left.length} other Clusters`} answered otherwise; their BundleDeployments have it in status.lastRequest`,
      ];
}
