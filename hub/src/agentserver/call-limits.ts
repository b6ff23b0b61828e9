/** Limits of concurrent calls: of each agent, and of peers that are not authenticated. */
import { createSemaphore, type Semaphore } from "@flotilla/shared/concurrency";

export interface CallLimit {
  /** The function that releases the call; `undefined` when the agent has too many. */
  acquire(agent: string): (() => void) | undefined;
}

/** `most`: of one agent. */
export function createCallLimit(most: number): CallLimit {
  const counts = new Map<string, number>();
  return {
    acquire(agent) {
      const count = counts.get(agent) ?? 0;
      if (count >= most) return undefined;
      counts.set(agent, count + 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        const others = (counts.get(agent) ?? 1) - 1;
        if (others === 0) counts.delete(agent);
        else counts.set(agent, others);
      };
    },
  };
}

/**
 * Limits the unauthenticated calls that are read at the same time. gRPC buffers a message until it is complete, up to the
 * largest that agents may send; without a limit anybody who reaches the port could fill the hub's memory. Calls that wait
 * are not read from and cost almost nothing.
 */
export interface EnrolmentLimit {
  /**
   * Resolves when the call may be read, with the function that releases it after its message has arrived or the call
   * has ended. Resolves with `undefined` at once when too many calls are waiting.
   */
  acquire(peer: string): Promise<(() => void) | undefined>;
}

export interface EnrolmentLimits {
  /** Calls that are read. */
  readonly concurrent: number;
  readonly concurrentPerPeer: number;
  /** Waiting calls included. */
  readonly total: number;
  readonly totalPerPeer: number;
}

interface Peer {
  readonly semaphore: Semaphore;
  calls: number;
}

/**
 * With 16 MiB for each message, 256 MiB at worst; an agent's is complete after one round trip. As many wait as may enrol at
 * once (enrolment.ts).
 */
const defaultLimits: EnrolmentLimits = {
  concurrent: 16,
  concurrentPerPeer: 8,
  total: 500,
  totalPerPeer: 400,
};

export function createEnrolmentLimit(limits = defaultLimits): EnrolmentLimit {
  const all = createSemaphore(limits.concurrent);
  const peers = new Map<string, Peer>();
  let calls = 0;

  function peerOf(name: string): Peer {
    const known = peers.get(name);
    if (known !== undefined) return known;
    const added = { semaphore: createSemaphore(limits.concurrentPerPeer), calls: 0 };
    peers.set(name, added);
    return added;
  }

  return {
    async acquire(name) {
      const callsOfPeer = peers.get(name)?.calls ?? 0;
      if (calls >= limits.total || callsOfPeer >= limits.totalPerPeer) return undefined;
      const peer = peerOf(name);
      peer.calls += 1;
      calls += 1;
      await peer.semaphore.acquire();
      await all.acquire();
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        all.release();
        peer.semaphore.release();
        peer.calls -= 1;
        calls -= 1;
        if (peer.calls === 0) peers.delete(name);
      };
    },
  };
}
