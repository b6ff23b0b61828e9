/** Where the reports of agents go. */
import type { DeploymentKey, DeploymentState } from "@flotilla/proto/messages.ts";

/** The Cluster whose agent reports, by its certificate. */
export interface ClusterRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The namespace on the hub that has its BundleDeployments. */
  readonly deploymentsNamespace: string;
}

/** Where a report stands among all of its cluster. */
export interface ReportPosition {
  readonly epoch: number;
  readonly sequence: number;
}

export interface ReportSink {
  /**
   * Resolves once what the report says, or something newer, is durable. Called in the order in which reports came; the
   * deployment exists with that UID. A rejection ends the stream, and the agent says it again on the next.
   */
  report(cluster: ClusterRef, place: ReportPosition, state: DeploymentState): Promise<void>;
  /** The agent has uninstalled it; called only for one that is being deleted. The same holds for a rejection. */
  withdrawn(cluster: ClusterRef, deployment: DeploymentKey): Promise<void>;
}
