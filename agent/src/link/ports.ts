/** What the link needs of the rest of the agent, and what it gives. */
import type {
  DeploymentKey,
  DeploymentState,
  ObjectRef,
  ObservedDeployment,
  ObservedObject,
  ReferencedObject,
} from "@flotilla/proto/messages.ts";
import type { Packed } from "@flotilla/shared/content/packed.ts";

/** A deployment as the hub wants it now. */
export interface Assignment {
  readonly deployment: DeploymentKey;
  readonly deploymentId: string;
  /** Packed; absent when the agent holds this deployment id already and only `paused` differs. */
  readonly content?: Uint8Array;
  readonly paused: boolean;
}

/**
 * Where what the hub says goes. A promise gives whether it is stored in the agent's cluster: where it is not, that is told
 * as the deployment's own failure. A rejection ends the stream.
 */
export interface Intake {
  holdings(): readonly ObservedDeployment[];
  assign(assignment: Assignment): Promise<boolean>;
  /** For a deployment that is not held: say `Outbox.withdrawn` at once. */
  withdraw(deployment: DeploymentKey): Promise<boolean>;
  /** Of the facts that are held. */
  factsDigest(): string | undefined;
  takeFacts(packed: Packed): Promise<boolean>;
  supplies(): readonly ObservedObject[];
  takeSupply(supply: ReferencedObject): Promise<boolean>;
  /** No deployment that the hub knows of names it any more. */
  dropSupply(ref: ObjectRef): Promise<void>;
  /** All current ones; said again on every new stream. */
  states(): readonly DeploymentState[];
}

/** Where what the agent has to say goes. Never fails and never waits: it is said when there is a stream. */
export interface Outbox {
  /** The latest of a name replaces what was not said yet. */
  report(state: DeploymentState): void;
  /** It is uninstalled, and nothing of it is held any more. */
  withdrawn(deployment: DeploymentKey): void;
}
