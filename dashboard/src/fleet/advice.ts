/**
 * What to do about something that needs attention. Decided by its kind, state, reason and the code of its error; messages are for
 * people. Pure.
 */
import { appDefinition, isAppKind } from "@flotilla/shared/api/apps";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { blockerText } from "./blocker-text.ts";
import type { Concern } from "./concern.ts";
import type { ErrorCode } from "./error-codes.ts";

export interface Advice {
  readonly text: string;
  /** To be run by the user. */
  readonly command?: string;
}

/** `cluster`: the name of the one that is looked at; absent: any. */
export function adviceFor(concern: Concern, cluster = "CLUSTER"): Advice | undefined {
  const { kind, namespace, name, state } = concern;
  if (kind === "Cluster") return adviceForCluster(concern);
  const object = `${kind.toLowerCase()} ${name} -n ${namespace}`;
  switch (state) {
    case "Blocked":
      return adviceForBlocked(concern);
    case "NoTargets":
      return {
        text: "Correct its targets, or the labels of a Cluster; it is deployed as soon as one matches.",
        command: `kubectl get clusters.fleet.cattle.io -n ${namespace} --show-labels`,
      };
    case "Stalled":
      return adviceForValues(concern) ?? adviceForSource(concern, object);
    case "NotAccepted":
    case "Failed":
      return adviceForSource(concern, object);
    case "NotReady":
      return {
        text: "Read the reason at the object that is not ready, on the page of the release in that cluster: its events and its pods' last log lines are there.",
        command: `flotilla logs ${kind.toLowerCase()}/${name} -n ${namespace} --cluster ${cluster}`,
      };
    case "ErrApplied":
      return (
        adviceForValues(concern) ?? {
          text: "The error of Helm or of the agent is in the message. Correct the chart, its values, its credentials or the service account; retries continue, or retry it now on its page.",
          command: `flotilla reconcile ${object} --reset`,
        }
      );
    case "Modified":
      return {
        text: "Objects of the release were changed in the cluster. See what differs, then correct it, or put the change into the values.",
        command: `flotilla diff ${kind.toLowerCase()}/${name} -n ${namespace} --cluster ${cluster}`,
      };
    case "Offline":
      return {
        text: "It keeps running on the clusters that are offline, and gets what is new when their agents reconnect.",
        command: `kubectl get clusters.fleet.cattle.io -n ${namespace}`,
      };
    default:
      return undefined;
  }
}

function adviceForCluster({ state, name, namespace }: Concern): Advice {
  switch (state) {
    case "Offline":
      return {
        text: "What runs there keeps running, and its agent applies what is new when it reconnects. Check that the cluster is up, that its agent runs, and that it reaches the hub.",
        command: "kubectl -n flotilla-agent get pods   # in that cluster",
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

function adviceForBlocked({ kind, namespace, name, blocker }: Concern): Advice {
  if (blocker === undefined) return { text: "Open it: its conditions say what it waits for." };
  const { ref, why } = blocker;
  const other = `${ref.kind.toLowerCase()} ${ref.name} -n ${ref.namespace}`;
  const isItself = ref.kind === kind && ref.namespace === namespace && ref.name === name;
  switch (why) {
    case "absent":
      return {
        text: `${blockerText(blocker, namespace)} Create it, or correct dependsOn.`,
        command: `kubectl edit ${kind.toLowerCase()} ${name} -n ${namespace}`,
      };
    case "unmatched":
      return {
        text: `${blockerText(blocker, namespace)} Create one with these labels, or correct dependsOn.`,
        command: `kubectl get bundles.fleet.cattle.io -n ${ref.namespace} --show-labels`,
      };
    case "suspended":
      return {
        text: isItself ? "Resume it on its page." : `Resume ${ref.kind} ${ref.name} on its page.`,
        command: `kubectl describe ${other}`,
      };
    case "elsewhere":
      return {
        text: `Deploy ${ref.kind} ${ref.name} to these clusters, too: correct its targets, or dependsOn.`,
        command: `kubectl edit ${other}`,
      };
    case "rejected":
      return {
        text: `Correct ${ref.kind} ${ref.name}; it continues as soon as that is ready.`,
        command: `kubectl describe ${other}`,
      };
    case "blocked":
      return {
        text: "They wait for each other. Remove one of them from a dependsOn.",
        command: `kubectl edit ${kind.toLowerCase()} ${name} -n ${namespace}`,
      };
  }
}

/** Undefined unless it is what `valuesFrom` names that is absent or cannot be read. */
function adviceForValues({ kind, values }: Concern): Advice | undefined {
  const [first] = values;
  if (first === undefined) return undefined;
  const { namespace } = first;
  const names = values.map((each) => `${each.kind} ${each.namespace}/${each.name}`);
  const objects = values
    .filter((each) => each.namespace === namespace)
    .map((each) => `${each.kind.toLowerCase()}/${each.name}`);
  const isOfHub = isAppKind(kind) && appDefinition(kind).valuesFrom === "hub";
  const where = isOfHub ? "on the hub" : "in that cluster";
  const what =
    names.length === 1
      ? `${names.join("")}, which valuesFrom names, ${where}`
      : `what the message names of valuesFrom ${where}: ${names.join(", ")}`;
  return {
    text: `Create or correct ${what}; it continues at once.`,
    command: `kubectl get ${objects.join(" ")} -n ${namespace}${isOfHub ? "" : "   # in that cluster"}`,
  };
}

/** Where the hub could not read, resolve or accept something. */
function adviceForSource(concern: Concern, object: string): Advice {
  const { namespace, secret, code, reason } = concern;
  const describe = `kubectl describe ${object}`;
  switch (subjectOf(reason, code)) {
    case "credentials":
      return secret === ""
        ? {
            text: "The registry or repository denies access, and it is read without a Secret: name one with credentials.",
            command: `kubectl edit ${object}`,
          }
        : {
            text: `${mayBeAbsent(code) ? "Create or correct" : "Correct"} the Secret ${namespace}/${secret}; the hub reads it again at once.`,
            command: `kubectl describe secret ${secret} -n ${namespace}`,
          };
    case "network":
      return {
        text: "It cannot be reached or read from the hub. Check its address, its certificate and the network; retries continue.",
        command: describe,
      };
    case "version":
      return {
        text: "Correct the chart or the version constraint, or publish such a version: the next poll finds it. What is deployed keeps running.",
        command: `kubectl edit ${object}`,
      };
    case "policy":
      return {
        text: "A Policy of its namespace forbids it. Change what the message names, or have the Policy changed.",
        command: `kubectl get policies.fleet.cattle.io -n ${namespace} -o yaml`,
      };
    case "signature":
      return {
        text: "Its signature is missing or not trusted. Sign it, or correct the keys of `verify`.",
        command: describe,
      };
    case "source":
      return {
        text: "The source that it names has nothing yet. Correct that source, or its name.",
        command: describe,
      };
    case "chart":
      return {
        text: "Correct the chart where it is published; the next version or revision is tried at once.",
        command: describe,
      };
    case undefined:
      return {
        text: "Change the field that the message names. What is deployed keeps running.",
        command: `kubectl edit ${object}`,
      };
  }
}

const secretUnusable: ErrorCode = "HELM_SECRET_UNUSABLE";

/** Whether the Secret may not exist at all; where a registry has answered, it does. Sources of Flux have no code for it. */
function mayBeAbsent(code: string): boolean {
  return code === "" || code === secretUnusable;
}

type Subject =
  | "credentials"
  | "network"
  | "version"
  | "policy"
  | "signature"
  | "source"
  | "chart"
  | undefined;

/** A code says more than the reason of a condition, of which Flux has fewer. */
function subjectOf(reason: string, code: string): Subject {
  return subjectOfCode[code] ?? subjectOfReason[reason];
}

const subjectOfReason: Readonly<Record<string, Subject>> = {
  [fluxReason.authenticationFailed]: "credentials",
  [fluxReason.invalidCommitSignature]: "signature",
  [fluxReason.invalidTagSignature]: "signature",
  [fluxReason.noSourceArtifact]: "source",
  [fluxReason.sourceNotReady]: "source",
  [fluxReason.sourceUnavailable]: "source",
  [fluxReason.valuesFilesError]: "chart",
  [fluxReason.verificationError]: "signature",
  PolicyViolation: "policy",
};

const subjectOfCode: Readonly<Record<string, Subject>> = {
  CHART_BUILD: "chart",
  CHART_DEPENDENCY: "chart",
  CHART_DIGEST_MISMATCH: "chart",
  CHART_DOWNLOAD: "network",
  CHART_NOT_FOUND: "version",
  CHART_NOT_IN_SOURCE: "chart",
  CHART_VALUES_FILE: "chart",
  CHART_VERSION_NOT_FOUND: "version",
  EGRESS_DENIED: "network",
  HELM_SECRET_UNUSABLE: "credentials",
  INDEX_FETCH: "network",
  INDEX_INVALID: "network",
  POLICY_VIOLATION: "policy",
  REGISTRY_ANSWER: "network",
  REGISTRY_RATE_LIMITED: "network",
  REGISTRY_UNAUTHORIZED: "credentials",
  REGISTRY_UNREACHABLE: "network",
  REPOSITORY_SECRET_INVALID: "credentials",
} satisfies Readonly<Partial<Record<ErrorCode, Subject>>>;
