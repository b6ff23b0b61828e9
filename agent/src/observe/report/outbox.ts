/**
 * Reports for the hub. The latest state of each deployment is kept until the hub has acknowledged it, over any
 * number of streams.
 */
import type { AgentMessage, DeploymentKey, DeploymentState, SendQueue } from "@flotilla/proto";

/** Never blocks and never throws: reports are sent when there is a stream. */
export interface Outbox {
  /** Replaces an earlier report of the same name that was not sent yet. */
  report(state: DeploymentState): void;
  /** The deployment is uninstalled, and the agent has removed all its data. */
  withdrawn(deployment: DeploymentKey): void;
}

export interface StreamOutbox extends Outbox {
  /** How many states the hub has not acknowledged. */
  readonly unacknowledged: number;
  /** Sends `states` and all that is pending over a new stream. */
  attach(outgoing: Pick<SendQueue<AgentMessage>, "put">, states: readonly DeploymentState[]): void;
  /** The stream has ended; reports wait for the next one. */
  detach(): void;
  /** The hub has stored the report of this sequence number, or a newer one. */
  acknowledged(name: string, sequence: number): void;
}

interface Entry {
  readonly state: DeploymentState;
  /** On the current stream; undefined before it was sent there. */
  sequence: number | undefined;
}

export function createOutbox(): StreamOutbox {
  const states = new Map<string, Entry>();
  /** By UID. Sent once: if one is lost, the hub sends the withdrawal again on the next stream. */
  const withdrawals = new Map<string, DeploymentKey>();
  let stream: Pick<SendQueue<AgentMessage>, "put"> | undefined;
  let lastSequence = 0;

  function sendState(name: string): void {
    stream?.put(`state/${name}`, () => {
      const entry = states.get(name);
      if (entry === undefined) return undefined;
      lastSequence += 1;
      entry.sequence = lastSequence;
      return { kind: "state", sequence: lastSequence, state: entry.state };
    });
  }

  function sendWithdrawn(uid: string): void {
    stream?.put(`withdrawn/${uid}`, () => {
      const deployment = withdrawals.get(uid);
      withdrawals.delete(uid);
      return deployment && { kind: "withdrawn", deployment };
    });
  }

  return {
    get unacknowledged() {
      return states.size;
    },
    report(state) {
      states.set(state.name, { state, sequence: undefined });
      sendState(state.name);
    },
    withdrawn(deployment) {
      const { name, uid } = deployment;
      if (states.get(name)?.state.uid === uid) states.delete(name);
      withdrawals.set(uid, deployment);
      sendWithdrawn(uid);
    },
    attach(outgoing, current) {
      stream = outgoing;
      lastSequence = 0;
      for (const entry of states.values()) entry.sequence = undefined;
      for (const state of current) states.set(state.name, { state, sequence: undefined });
      for (const uid of withdrawals.keys()) sendWithdrawn(uid);
      for (const name of states.keys()) sendState(name);
    },
    detach() {
      stream = undefined;
    },
    acknowledged(name, sequence) {
      const entry = states.get(name);
      // A newer state has a higher number, or none yet: it is not the acknowledged one.
      if (entry?.sequence !== undefined && entry.sequence <= sequence) states.delete(name);
    },
  };
}
