/** What to do about something that needs attention. Pure. */
import type { Concern } from "./summary.ts";

export interface Advice {
  readonly text: string;
  /** To be run by the user. */
  readonly command?: string;
}

export function adviceFor({ kind, namespace, name, state, message }: Concern): Advice | undefined {
  const object = `${kind.toLowerCase()} ${name} -n ${namespace}`;
  if (state === "Offline" && kind === "Cluster")
    return {
      text: "What runs there keeps running, and its agent applies what is new when it reconnects. Check that the cluster is up, that its agent runs, and that it reaches the hub.",
      command: "kubectl -n flotilla-agent logs deployment/flotilla-agent   # in that cluster",
    };
  if (isAboutCredentials(message))
    return {
      text: "The registry or repository rejects the credentials. Correct the Secret that it names; the hub reads it again at once.",
      command: `kubectl describe ${object}`,
    };
  if (isUnreachable(message))
    return {
      text: "The repository or registry cannot be reached from the hub. Check its address and the network; retries go on by themselves.",
      command: `kubectl describe ${object}`,
    };
  if (isAboutVersion(message))
    return {
      text: "Correct the chart or the version constraint, or publish such a version: the next poll finds it. What is deployed keeps running.",
      command: `kubectl edit ${object}`,
    };
  switch (state) {
    case "NotReady":
      return {
        text: "Open it, choose a cluster, and read the reason at the object: its events and its pods' last log lines are there.",
      };
    case "ErrApplied":
      return {
        text: "Helm's own error is in the message. Correct the chart, its values or the service account; retries go on by themselves, or retry it now.",
        command: `flotilla reconcile ${object} --reset`,
      };
    case "Modified":
      return {
        text: "Somebody changed objects of the release. See what differs, then set spec.correctDrift, or put the change into the values.",
        command: `flotilla diff ${kind.toLowerCase()}/${name} -n ${namespace} --cluster CLUSTER`,
      };
    case "NotAccepted":
    case "Failed":
      return { text: "Correct what the message names.", command: `kubectl edit ${object}` };
    case "Stalled":
      return {
        text: "What is deployed keeps running. Correct what the message names.",
        command: `kubectl describe ${object}`,
      };
    default:
      return undefined;
  }
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
