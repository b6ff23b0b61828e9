/**
 * The order in which connections begin their TLS handshake, which takes a millisecond of the hub's only thread and proves
 * nothing: a caller without a certificate can open connections without end.
 *
 * Each handshake takes a token of a bucket for the whole port. When an agent authenticates on the connection, or enrols, the
 * token is given back: agents are as fast as the hub is, however many connect at once. Those of other callers are limited to
 * the rate of the bucket. When it is empty, connections wait. First are those of address blocks where agents have just
 * authenticated, then those of blocks with the fewest handshakes that came to nothing: a flood from one address or from many
 * waits behind callers that have not been seen before. When too many wait, those that would be last are dropped.
 */
import { createTokenBucket, type RateLimits } from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";

export interface HandshakeQueue {
  /** `block`: see addressBlock. */
  add(block: string, turn: HandshakeTurn): Handshake;
  /** How many wait. */
  readonly waiting: number;
}

/** One of the two is called, unless the handshake is cancelled before. */
export interface HandshakeTurn {
  /** Called at once, or later when it is this connection's turn. */
  readonly start: () => void;
  /** Too many wait. */
  readonly drop: () => void;
}

export interface Handshake {
  /** An agent has authenticated or enrolled on the connection: it costs its block nothing. */
  settle(): void;
  /** The connection is closed; it no longer waits. */
  cancel(): void;
}

export interface HandshakeLimits extends RateLimits {
  readonly maxWaiting: number;
  /** How long a handshake counts for or against its block. */
  readonly rememberMs: number;
}

interface Block {
  readonly name: string;
  /** The weights of its handshakes: negative where agents have authenticated. */
  balance: number;
  /** Handshakes that have begun and are not forgotten. */
  begun: number;
  readonly waiting: Set<Waiting>;
}

interface Waiting extends HandshakeTurn {
  begun: Begun | undefined;
}

interface Begun {
  readonly block: Block;
  readonly at: number;
  /** What it adds to the balance. */
  weight: number;
}

/** For a handshake after which no agent has authenticated yet. */
const unknownWeight = 1;
/** One agent stands for ten others behind its address: after a restart, thousands have authenticated after a few round trips. */
const agentWeight = -10;
/** How often the next tokens are looked for. */
const stepMs = 20;
/** The limit of handshakes that are remembered; the rate allows fewer, except of agents. */
const maxRemembered = 50_000;

export function createHandshakeQueue(
  clock: Clock,
  { rememberMs, maxWaiting, ...rate }: HandshakeLimits,
): HandshakeQueue {
  const bucket = createTokenBucket({ clock, ...rate });
  const blocks = new Map<string, Block>();
  /** Blocks with waiting connections by their rank; sets keep the order in which they came. */
  const ranks = Array.from({ length: 34 }, () => new Set<Block>());
  /** The oldest first. */
  const begun = new Set<Begun>();
  let waiting = 0;
  let isScheduled = false;

  /** Changes a block, and its place in the order. */
  function update(block: Block, change: () => void): void {
    ranks[rankOf(block)]?.delete(block);
    change();
    if (block.waiting.size > 0) ranks[rankOf(block)]?.add(block);
    if (block.waiting.size === 0 && block.begun === 0) blocks.delete(block.name);
  }

  function blockOf(name: string): Block {
    const block = blocks.get(name) ?? { name, balance: 0, begun: 0, waiting: new Set() };
    blocks.set(name, block);
    return block;
  }

  function remove(block: Block, one: Waiting): void {
    if (!block.waiting.has(one)) return;
    waiting -= 1;
    update(block, () => void block.waiting.delete(one));
  }

  function begin(block: Block, one: Waiting): void {
    const handshake: Begun = { block, at: clock.monotonic(), weight: unknownWeight };
    one.begun = handshake;
    begun.add(handshake);
    update(block, () => {
      block.begun += 1;
      block.balance += unknownWeight;
    });
    remove(block, one);
    one.start();
  }

  function forget(handshake: Begun): void {
    const { block, weight } = handshake;
    begun.delete(handshake);
    update(block, () => {
      block.begun -= 1;
      block.balance -= weight;
    });
  }

  function startNext(): void {
    const before = clock.monotonic() - rememberMs;
    for (const handshake of begun) {
      if (handshake.at > before && begun.size <= maxRemembered) break;
      forget(handshake);
    }
    while (waiting > 0 && bucket.take()) {
      const [block, one] = firstOf(ranks) ?? [];
      if (block !== undefined && one !== undefined) begin(block, one);
    }
    if (waiting === 0 || isScheduled) return;
    isScheduled = true;
    clock.setTimeout(onTimer, stepMs);
  }

  function onTimer(): void {
    isScheduled = false;
    startNext();
  }

  function dropLast(): void {
    const [block, one] = firstOf(ranks.toReversed()) ?? [];
    if (block === undefined || one === undefined) return;
    remove(block, one);
    one.drop();
  }

  return {
    add(name, turn) {
      const block = blockOf(name);
      const one: Waiting = { ...turn, begun: undefined };
      waiting += 1;
      update(block, () => void block.waiting.add(one));
      startNext();
      if (waiting > maxWaiting) dropLast();
      return {
        settle() {
          // Of a handshake that is forgotten the token is there again.
          if (one.begun?.weight !== unknownWeight || !begun.has(one.begun)) return;
          one.begun.weight = agentWeight;
          update(block, () => {
            block.balance += agentWeight - unknownWeight;
          });
          bucket.giveBack();
          startNext();
        },
        cancel: () => remove(block, one),
      };
    },
    get waiting() {
      return waiting;
    },
  };
}

/** The first block of the first rank that has any, and its oldest connection. */
function firstOf(ranks: Iterable<ReadonlySet<Block>>): readonly [Block, Waiting] | undefined {
  for (const rank of ranks)
    for (const block of rank) for (const one of block.waiting) return [block, one];
  return undefined;
}

/** 0 where agents have authenticated; otherwise the number of digits of the balance, so that many ranks are not needed. */
function rankOf({ balance }: Block): number {
  return balance < 0 ? 0 : 33 - Math.clz32(balance);
}
