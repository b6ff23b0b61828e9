/** What the hub's messages do in this agent. */
import type {
  DeploymentKey,
  DeploymentState,
  ObjectRef,
  ObservedDeployment,
  ObservedObject,
  ReferencedObject,
} from "@flotilla/proto";
import type { Packed } from "@flotilla/shared/content";

/** A deployment as the hub desires it now. */
export interface AssignmentRequest {
  readonly deployment: DeploymentKey;
  readonly deploymentId: string;
  /** Packed; absent when the agent has this deployment id already and only `paused` differs. */
  readonly content?: Uint8Array;
  readonly paused: boolean;
}

/**
 * Receives what the hub sends. A Boolean result says whether it is stored in the agent's cluster; a failure to store is
 * reported as a failure of the deployment. A rejection ends the stream.
 */
export interface Intake {
  /** The deployments that the agent has, for the hub to compare with its own. */
  inventory(): readonly ObservedDeployment[];
  assign(assignment: AssignmentRequest): Promise<boolean>;
  /** Reports `Outbox.withdrawn` at once for a deployment that the agent does not have. */
  withdraw(deployment: DeploymentKey): Promise<boolean>;
  /** Of the stored cluster info. */
  clusterInfoDigest(): string | undefined;
  setClusterInfo(packed: Packed): Promise<boolean>;
  referencedObjects(): readonly ObservedObject[];
  setReferencedObject(supply: ReferencedObject): Promise<boolean>;
  /** No deployment that the hub knows references it any more. */
  withdrawReferencedObject(ref: ObjectRef): Promise<void>;
  /** The present state of every deployment; reported again on each new stream. */
  states(): readonly DeploymentState[];
}
