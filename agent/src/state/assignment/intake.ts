/** The handlers of the hub's messages. */
import type {
  DeploymentKey,
  DeploymentState,
  LostContent,
  ObjectRef,
  ObservedDeployment,
  ObservedObject,
  PlanVerification,
  ReferencedObject,
  ReleaseRequest,
  SourceDigest,
} from "@flotilla/proto";
import type { Packed } from "@flotilla/shared/content";

/** A deployment as the hub desires it now. */
export interface AssignmentRequest {
  readonly deployment: DeploymentKey;
  readonly deploymentId: string;
  /** Packed; absent when the agent has this deployment id already and only other fields differ. */
  readonly content?: Uint8Array;
  readonly paused: boolean;
  /** The last request of a user. */
  readonly request?: ReleaseRequest;
  /** What the first cluster of its Bundle received for a chart whose pin does not say which bytes it means. */
  readonly sources?: readonly SourceDigest[];
  /** What was approved to change with the content. Without a content, what was approved with the one before stays. */
  readonly verification?: PlanVerification;
}

export interface WithdrawalOptions {
  /** The content that the agent had last, by which an agent that has lost all its Secrets looks for the release first. */
  readonly lost?: LostContent | undefined;
  /** The release stays installed. */
  readonly keepsRelease?: true | undefined;
}

/**
 * Handles what the hub sends. A Boolean result is whether it is stored in the agent's cluster; a failure to store is
 * reported as a failure of the deployment. A rejection ends the stream.
 */
export interface Intake {
  /** The deployments that the agent has, for the hub to compare with the desired ones. */
  deployments(): readonly ObservedDeployment[];
  assign(assignment: AssignmentRequest): Promise<boolean>;
  /**
   * Reports `Outbox.withdrawn` at once for a deployment that the agent does not have.
   */
  withdraw(deployment: DeploymentKey, options?: WithdrawalOptions): Promise<boolean>;
  /** All that the hub wants of this cluster has been assigned or withdrawn. */
  synced(): Promise<void>;
  /** The digest of the stored cluster info. */
  clusterInfoDigest(): string | undefined;
  setClusterInfo(packed: Packed): Promise<boolean>;
  referencedObjects(): readonly ObservedObject[];
  setReferencedObject(object: ReferencedObject): Promise<boolean>;
  /** No deployment on the hub references the object any more. */
  withdrawReferencedObject(ref: ObjectRef): Promise<void>;
  /** The current state of every deployment; reported again on each new stream. */
  states(): readonly DeploymentState[];
}
