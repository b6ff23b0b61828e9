/** What to do about something that needs attention. Pure. */
import type { Concern } from "./summary.ts";

export interface Advice {
  readonly text: string;
  /** To be run by the user. */
  readonly command?: string;
}

export function adviceFor(concern: Concern): Advice | undefined {
  const { kind, namespace, name, state } = concern;
  if (kind === "Cluster") return adviceForCluster(concern);
  const object = `${kind.toLowerCase()} ${name} -n ${namespace}`;
  switch (state) {
    case "NotAccepted":
    case "Failed":
    case "Stalled":
      return adviceForSource(concern, object);
    case "NotReady":
      return {
        text: "Open it, choose a cluster, and read the reason at the object: its events and its pods' last log lines are there.",
      };
    case "ErrApplied":
      return {
        text: "The error of Helm or of the agent is in the message. Correct the chart, its values, its credentials or the service account; retries continue, or retry it now on its page.",
        command: retryCommands[kind]?.(object) ?? `kubectl describe ${object}`,
      };
    case "Modified":
      return {
        text: "Objects of the release were changed in the cluster. See what differs, then set spec.correctDrift, or put the change into the values.",
        command: `flotilla diff ${kind.toLowerCase()}/${name} -n ${namespace} --cluster CLUSTER`,
      };
    case "Offline":
      return {
        text: "It keeps running on the clusters that are offline, and gets what is new when their agents reconnect. The clusters are in this list, too.",
      };
    default:
      return undefined;
  }
}

/** Of the kinds whose command line has one. */
const retryCommands: Readonly<Record<string, (object: string) => string>> = {
  HelmOp: (object) => `flotilla reconcile ${object} --reset`,
  HelmRelease: (object) => `flux reconcile ${object} --reset`,
};

function adviceForCluster({ state, name, namespace }: Concern): Advice {
  switch (state) {
    case "Offline":
      return {
        text: "What runs there keeps running, and its agent applies what is new when it reconnects. Check that the cluster is up, that its agent runs, and that it reaches the hub.",
        command: "kubectl -n flotilla-agent logs deployment/flotilla-agent   # in that cluster",
      };
    case "WaitCheckIn":
      return {
        text: "No agent has registered as this cluster yet. Install the agent there with a registration token of this namespace, or delete the Cluster.",
        command: `kubectl describe cluster.fleet.cattle.io ${name} -n ${namespace}`,
      };
    default:
      return { text: "Open it: the conditions say which releases are not ready." };
  }
}

/** Where the hub could not read or resolve something: the message says which of its reasons it is. */
function adviceForSource({ state, message }: Concern, object: string): Advice {
  if (isAboutCredentials(message))
    return {
      text: "The registry or repository rejects the credentials. Correct the Secret that it names; the hub reads it again at once.",
      command: `kubectl describe ${object}`,
    };
  if (isUnreachable(message))
    return {
      text: "The repository or registry cannot be reached from the hub. Check its address and the network; retries continue.",
      command: `kubectl describe ${object}`,
    };
  if (isAboutVersion(message))
    return {
      text: "Correct the chart or the version constraint, or publish such a version: the next poll finds it. What is deployed keeps running.",
      command: `kubectl edit ${object}`,
    };
  if (state === "Stalled")
    return {
      text: "What is deployed keeps running. Correct what the message names.",
      command: `kubectl describe ${object}`,
    };
  return { text: "Correct what the message names.", command: `kubectl edit ${object}` };
}

/** Here and below: for people, who read the message itself, too. */
function isUnreachable(message: string): boolean {
  return /connection refused|connection reset|timed? ?out|ENOTFOUND|EAI_AGAIN|no such host|certificate/i.test(
    message,
  );
}

function isAboutVersion(message: string): boolean {
  return /no chart version found|no chart named/.test(message);
}

function isAboutCredentials(message: string): boolean {
  return /\b(401|403|unauthorized|authentication|credentials|denied access)\b/i.test(message);
}
