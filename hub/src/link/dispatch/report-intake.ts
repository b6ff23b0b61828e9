/** Accepts one agent's reports: only those on deployments of its own cluster, and a limited number at a time. */
import type { DeploymentKey, DeploymentState } from "@flotilla/proto";
import type { BundleDeployment } from "@flotilla/shared/api";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { ClusterRef } from "../identity/cluster-identity.ts";
import type { RejectionReason, Rejections } from "../rpc/rejections.ts";
import type { DispatchMetrics } from "./metrics.ts";

/** The order of a report among all reports of its cluster: by epoch, then by sequence. */
export interface ReportPosition {
  readonly epoch: number;
  readonly sequence: number;
}

/** Makes reports durable. */
export interface ReportSink {
  /**
   * Resolves when the report, or a newer one, is durable. Called in the order of the reports, for a deployment that
   * exists with that UID. A rejection ends the stream, and the agent repeats the report on the next one.
   */
  report(cluster: ClusterRef, position: ReportPosition, state: DeploymentState): Promise<void>;
  /** The agent has uninstalled a deployment that is being deleted. A rejection as above. */
  withdrawn(cluster: ClusterRef, deployment: DeploymentKey): Promise<void>;
}

export type IntakeLimit = "reports" | "acknowledgements";

export interface ReportIntakeDeps {
  readonly cluster: ClusterRef;
  /** The BundleDeployment of a name in the cluster namespace, as it is now. */
  readonly desired: (name: string) => BundleDeployment | undefined;
  /** Whether the agent has stored a deployment of that name, by its Hello and what was sent since. */
  readonly isStored: (name: string) => boolean;
  readonly sink: ReportSink;
  readonly metrics: DispatchMetrics;
  readonly rejections: Rejections;
  readonly log: Log;
  /** The latest of a name replaces one that was not sent. `onSent`: called when it is sent. */
  readonly acknowledge: (name: string, sequence: number, onSent: () => void) => void;
  readonly onUninstalled: (name: string, uid: string) => void;
  /** A limit is reached: stop reading until it is not any more. */
  readonly onPaused: (limit: IntakeLimit) => void;
  readonly onResumed: (limit: IntakeLimit) => void;
  /** A report could not be stored. */
  readonly onFailed: (thrown: unknown) => void;
}

/**
 * Reports of one agent that are being stored, and rejected ones that are not acknowledged: what fifty HelmOps change at once, with
 * room.
 */
const maxInFlight = 256;

export type ReportIntake = ReturnType<typeof createReportIntake>;

export function createReportIntake(deps: ReportIntakeDeps) {
  const { cluster, desired, sink, metrics, rejections, log } = deps;
  let inFlight = 0;
  /** Names of rejected reports whose acknowledgement is not sent yet. */
  const unacknowledged = new Set<string>();
  /**
   * UIDs by name of reported deployments that the agent has and the hub does not have. Bounded by what the agent
   * may store.
   */
  const unknown = new Map<string, string>();

  function store(work: Promise<void>, then: () => void): void {
    inFlight += 1;
    if (inFlight === maxInFlight) deps.onPaused("reports");
    work
      .then(then, (thrown: unknown) => {
        log.warn({ err: messageOf(thrown) }, "cannot store a report; closing the agent's stream");
        deps.onFailed(thrown);
      })
      .finally(() => {
        inFlight -= 1;
        if (inFlight === maxInFlight - 1) deps.onResumed("reports");
      });
  }

  function acknowledge(name: string, sequence: number): void {
    deps.acknowledge(name, sequence, () => {
      if (unacknowledged.delete(name) && unacknowledged.size === maxInFlight - 1)
        deps.onResumed("acknowledgements");
    });
  }

  function reject({ name, uid }: DeploymentKey, reason: RejectionReason): void {
    const key = `${cluster.namespace}/${cluster.name}`;
    const fields = { cluster: key, deployment: name, uid };
    rejections.rejected(key, { reason, fields, message: "rejected an agent's report" });
  }

  return {
    state(position: ReportPosition, state: DeploymentState): void {
      if (desired(state.name)?.metadata.uid !== state.uid) {
        reject(state, "unknown_deployment");
        if (deps.isStored(state.name)) {
          // Not acknowledged: the agent repeats it if this replica's cache is only behind.
          unknown.set(state.name, state.uid);
          return;
        }
        // Bounded: an agent could invent names and never read the acknowledgements.
        unacknowledged.add(state.name);
        if (unacknowledged.size === maxInFlight) deps.onPaused("acknowledgements");
        // Acknowledged although rejected: repeating the report would not change the answer.
        acknowledge(state.name, position.sequence);
        return;
      }
      metrics.reports.inc();
      store(sink.report(cluster, position, state), () =>
        acknowledge(state.name, position.sequence),
      );
    },
    withdrawn(deployment: DeploymentKey): void {
      const current = desired(deployment.name);
      deps.onUninstalled(deployment.name, deployment.uid);
      if (current?.metadata.uid !== deployment.uid) return;
      if (current.metadata.deletionTimestamp === undefined) {
        reject(deployment, "deployment_not_deleted");
        return;
      }
      store(sink.withdrawn(cluster, deployment), () => undefined);
    },
    /** Whether a report was rejected on a deployment that is the cluster's after all, because the cache was behind. */
    hasMissed: (name: string): boolean =>
      unknown.has(name) && desired(name)?.metadata.uid === unknown.get(name),
  };
}
