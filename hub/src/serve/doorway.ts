/**
 * Lets callers that nobody knows say what they want, so many at a time. gRPC keeps a message in memory until all of it has
 * come, and it may be as large as agents may send any: without an end to that, whoever reaches the port could have the
 * hub keep as much as it has. Those who wait are not read from, and cost next to nothing.
 */
import { createSemaphore, type Semaphore } from "@flotilla/shared/concurrency/semaphore.ts";

export interface Doorway {
  /**
   * Resolves when it is the sender's turn, with what ends it: the message has come, or the call is over. `undefined` at once
   * where too many are there already.
   */
  enter(sender: string): Promise<(() => void) | undefined>;
}

export interface DoorwayLimits {
  /** Those who are read from. */
  readonly atATime: number;
  readonly ofOneSender: number;
  /** Those who wait included. */
  readonly most: number;
  readonly mostOfOneSender: number;
}

interface Sender {
  readonly slots: Semaphore;
  calls: number;
}

/**
 * With 16 MiB for each message that is 256 MiB at the worst; an agent's is there after one round trip. As many wait as may
 * enrol at once (enroll.ts).
 */
const defaultLimits: DoorwayLimits = {
  atATime: 16,
  ofOneSender: 8,
  most: 500,
  mostOfOneSender: 400,
};

export function createDoorway(limits = defaultLimits): Doorway {
  const all = createSemaphore(limits.atATime);
  const senders = new Map<string, Sender>();
  let calls = 0;

  function senderOf(name: string): Sender {
    const known = senders.get(name);
    if (known !== undefined) return known;
    const fresh = { slots: createSemaphore(limits.ofOneSender), calls: 0 };
    senders.set(name, fresh);
    return fresh;
  }

  return {
    async enter(name) {
      const ofSender = senders.get(name)?.calls ?? 0;
      if (calls >= limits.most || ofSender >= limits.mostOfOneSender) return undefined;
      const sender = senderOf(name);
      sender.calls += 1;
      calls += 1;
      await sender.slots.acquire();
      await all.acquire();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        all.release();
        sender.slots.release();
        sender.calls -= 1;
        calls -= 1;
        if (sender.calls === 0) senders.delete(name);
      };
    },
  };
}
