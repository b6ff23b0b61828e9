/**
 * What the agent has yet to tell its hub: of each deployment the latest state, kept until the hub has acknowledged it,
 * over as many streams as that takes.
 */
import type { AgentMessage, DeploymentKey, DeploymentState } from "@flotilla/proto/messages.ts";
import type { SendQueue } from "@flotilla/proto/send-queue.ts";
import type { Outbox } from "./ports.ts";

export interface LinkOutbox extends Outbox {
  /** How many states the hub has not acknowledged. */
  readonly unacknowledged: number;
  /** Says everything on a new stream: `states`, and what was not said before. */
  attach(outgoing: Pick<SendQueue<AgentMessage>, "put">, states: readonly DeploymentState[]): void;
  /** The stream has ended; what is reported from now on waits for the next. */
  detach(): void;
  /** The hub has stored the report of that number, or something newer. */
  acknowledged(name: string, sequence: number): void;
}

interface Entry {
  readonly state: DeploymentState;
  /** Its number on the present stream, once it was sent there. */
  sequence: number | undefined;
}

export function createOutbox(): LinkOutbox {
  const states = new Map<string, Entry>();
  /** By UID: said once, for on the next stream the hub asks again about what it did not hear of. */
  const withdrawals = new Map<string, DeploymentKey>();
  let stream: Pick<SendQueue<AgentMessage>, "put"> | undefined;
  let lastSequence = 0;

  function sayState(name: string): void {
    stream?.put(`state/${name}`, () => {
      const entry = states.get(name);
      if (entry === undefined) return undefined;
      lastSequence += 1;
      entry.sequence = lastSequence;
      return { kind: "state", sequence: lastSequence, state: entry.state };
    });
  }

  function sayWithdrawn(uid: string): void {
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
      sayState(state.name);
    },
    withdrawn(deployment) {
      const { name, uid } = deployment;
      if (states.get(name)?.state.uid === uid) states.delete(name);
      withdrawals.set(uid, deployment);
      sayWithdrawn(uid);
    },
    attach(outgoing, current) {
      stream = outgoing;
      lastSequence = 0;
      for (const entry of states.values()) entry.sequence = undefined;
      for (const state of current) states.set(state.name, { state, sequence: undefined });
      for (const uid of withdrawals.keys()) sayWithdrawn(uid);
      for (const name of states.keys()) sayState(name);
    },
    detach() {
      stream = undefined;
    },
    acknowledged(name, sequence) {
      const entry = states.get(name);
      // A newer state has no number yet, or a higher one: it is not what was acknowledged.
      if (entry?.sequence !== undefined && entry.sequence <= sequence) states.delete(name);
    },
  };
}
