/** Events on a Cluster about requests of its agent that were not granted. */
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { ClusterLabels } from "./cluster-labels.ts";
import type { RegisteredCluster } from "./register-cluster.ts";
import type { TokenTerms } from "./token.ts";

export interface EnrolmentEventsDeps {
  readonly events: EventRecorder;
  readonly log: Log;
}

/** What the agent requested, and the token that it presented. */
export interface EnrolmentRequestSummary {
  readonly clusterName: string | undefined;
  readonly labels: ClusterLabels;
  readonly token: TokenTerms | undefined;
}

/** Names of labels in one message. */
const maxListedLabels = 10;

export function recordEnrolmentEvents(
  { events, log }: EnrolmentEventsDeps,
  { cluster, how, instead }: RegisteredCluster,
  { clusterName, labels, token }: EnrolmentRequestSummary,
): void {
  const record = (type: "Normal" | "Warning", reason: string, note: string): void =>
    events.record(cluster, { type, reason, action: "Enroll", note });

  if (instead !== undefined) {
    log.warn(
      { cluster: keyOf(cluster), requestedName: clusterName, why: instead },
      "did not give a cluster the requested name",
    );
    const { name } = cluster.metadata;
    if (instead === "taken") {
      const note = `the agent requested the name ${clusterName}, which another Cluster has; this one is named ${name}`;
      record("Warning", "NameTaken", note);
    } else {
      const note = `the agent requested the name ${clusterName}, which a target of a HelmOp or Bundle waits for; this one is named ${name}; to enrol a cluster with that name, use a token with spec.clusterName or spec.allowedClusterNames`;
      record("Warning", "NameAwaited", note);
    }
  }
  if (how === "take-over") {
    const note = `an agent with another key took over this cluster with the registration token ${token?.name ?? ""}; the previous key is no longer accepted`;
    record("Normal", "TakenOver", note);
  }
  if (labels.rejected.length > 0 && (how === "create" || how === "adopt")) {
    const listed = labels.rejected.slice(0, maxListedLabels);
    const count = labels.rejected.length;
    const more = count > maxListedLabels ? ` and ${count - maxListedLabels} more` : "";
    log.warn(
      { cluster: keyOf(cluster), labels: listed, count },
      "rejected labels that an agent requested",
    );
    const note = `the agent requested labels that it may not set on its cluster: ${listed.join(", ")}${more}; set them on the Cluster or in the registration token`;
    record("Warning", "LabelsRejected", note);
  }
}
