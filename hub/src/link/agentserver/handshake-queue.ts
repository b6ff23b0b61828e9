/**
 * The order in which connections begin their TLS handshake, which takes a millisecond of the hub's only thread and proves
 * nothing: a caller without a certificate can open connections without end.
 *
 * Each handshake takes a token of a bucket for the whole port. When an agent authenticates on the connection, or enrols, the
 * token is given back: agents are as fast as the hub is, however many connect at once. Connections of other callers are limited to
 * the rate of the bucket. When it is empty, connections wait. First are connections from address blocks where agents have just
 * authenticated, then from blocks with the fewest handshakes that came to nothing: a flood from one address or from many
 * waits behind callers that have not been seen before. When too many wait, those that would be last are dropped.
 */
import { createTokenBucket, type RateLimits, type TokenBucket } from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";

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

export class HandshakeQueue {
  readonly #clock: Clock;
  readonly #rememberMs: number;
  readonly #maxWaiting: number;
  readonly #bucket: TokenBucket;
  readonly #blocks = new Map<string, Block>();
  /** Blocks with waiting connections by their rank; sets keep the order in which they came. */
  readonly #ranks = Array.from({ length: 34 }, () => new Set<Block>());
  /** The oldest first. */
  readonly #begun = new Set<Begun>();
  #waiting = 0;
  #isScheduled = false;

  constructor(clock: Clock, { rememberMs, maxWaiting, ...rate }: HandshakeLimits) {
    this.#clock = clock;
    this.#rememberMs = rememberMs;
    this.#maxWaiting = maxWaiting;
    this.#bucket = createTokenBucket({ clock, ...rate });
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** `name`: of the block, see addressBlock. */
  add(name: string, turn: HandshakeTurn): Handshake {
    const block = this.#blockOf(name);
    const one: Waiting = { ...turn, begun: undefined };
    this.#waiting += 1;
    this.#update(block, () => void block.waiting.add(one));
    this.#startNext();
    if (this.#waiting > this.#maxWaiting) this.#dropLast();
    return {
      settle: () => this.#settle(block, one),
      cancel: () => this.#remove(block, one),
    };
  }

  #settle(block: Block, { begun }: Waiting): void {
    // The token of a handshake that is forgotten is there again.
    if (begun?.weight !== unknownWeight || !this.#begun.has(begun)) return;
    begun.weight = agentWeight;
    this.#update(block, () => {
      block.balance += agentWeight - unknownWeight;
    });
    this.#bucket.giveBack();
    this.#startNext();
  }

  /** Changes a block, and its place in the order. */
  #update(block: Block, change: () => void): void {
    this.#ranks[rankOf(block)]?.delete(block);
    change();
    if (block.waiting.size > 0) this.#ranks[rankOf(block)]?.add(block);
    if (block.waiting.size === 0 && block.begun === 0) this.#blocks.delete(block.name);
  }

  #blockOf(name: string): Block {
    const block = this.#blocks.get(name) ?? { name, balance: 0, begun: 0, waiting: new Set() };
    this.#blocks.set(name, block);
    return block;
  }

  #remove(block: Block, one: Waiting): void {
    if (!block.waiting.has(one)) return;
    this.#waiting -= 1;
    this.#update(block, () => void block.waiting.delete(one));
  }

  #begin(block: Block, one: Waiting): void {
    const handshake: Begun = { block, at: this.#clock.monotonic(), weight: unknownWeight };
    one.begun = handshake;
    this.#begun.add(handshake);
    this.#update(block, () => {
      block.begun += 1;
      block.balance += unknownWeight;
    });
    this.#remove(block, one);
    one.start();
  }

  #forget(handshake: Begun): void {
    const { block, weight } = handshake;
    this.#begun.delete(handshake);
    this.#update(block, () => {
      block.begun -= 1;
      block.balance -= weight;
    });
  }

  #startNext(): void {
    const before = this.#clock.monotonic() - this.#rememberMs;
    for (const handshake of this.#begun) {
      if (handshake.at > before && this.#begun.size <= maxRemembered) break;
      this.#forget(handshake);
    }
    while (this.#waiting > 0 && this.#bucket.take()) {
      const [block, one] = firstOf(this.#ranks) ?? [];
      if (block !== undefined && one !== undefined) this.#begin(block, one);
    }
    if (this.#waiting === 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.setTimeout(() => {
      this.#isScheduled = false;
      this.#startNext();
    }, stepMs);
  }

  #dropLast(): void {
    const [block, one] = firstOf(this.#ranks.toReversed()) ?? [];
    if (block === undefined || one === undefined) return;
    this.#remove(block, one);
    one.drop();
  }
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
