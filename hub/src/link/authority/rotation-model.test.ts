/**
 * A rotation with all faults at once: two leaders that both believe they lead, die between reading and writing and have
 * different clocks; replicas that lag; agents that connect and disconnect. An agent that was connected while the next
 * authority was introduced can always verify the hub, and be verified.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { createAuthority } from "./certificate-authority.ts";
import { planRotation, rotationTimes, takeStep } from "./plan-rotation.ts";
import { type AuthorityRecord, trustedBy } from "./record.ts";

const lifetimeMs = 3_600_000;
const { freshMs } = rotationTimes(lifetimeMs);
const start = Date.UTC(2026, 0, 1);
const authorities = await Promise.all(Array.from({ length: 12 }, () => createAuthority(start)));

interface Replica {
  known: AuthorityRecord;
  confirmedAt: number;
}

interface Agent {
  readonly version: 1 | 2;
  trusted: string;
  certificate: { readonly by: string; readonly notBefore: number; readonly notAfter: number };
  at: Replica | undefined;
  /** Whether it has received the last introduced authority; without it, it needs a new bootstrap Secret. */
  hasSeen: boolean;
}

type Move =
  | { readonly kind: "pass"; readonly ms: number }
  /** `lead`: reads and writes at once. */
  | { readonly kind: "read" | "write" | "die" | "lead"; readonly leader: 0 | 1 }
  | { readonly kind: "ask" }
  | { readonly kind: "observe"; readonly replica: 0 | 1 }
  | { readonly kind: "connect"; readonly agent: number; readonly replica: 0 | 1 }
  | { readonly kind: "leave"; readonly agent: number };

const which = fc.constantFrom<0 | 1>(0, 1);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.integer({ min: 1, max: lifetimeMs / 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("read", "write", "die", "lead", "lead"),
      leader: which,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("ask" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("observe" as const), replica: which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("connect" as const),
      agent: fc.nat(3),
      replica: which,
    }),
  },
  {
    weight: 1,
    // The last agent is of version 1: it receives a new authority only when it renews, so it has to be connected.
    arbitrary: fc.record({ kind: fc.constant("leave" as const), agent: fc.nat(2) }),
  },
);

function run(moves: readonly Move[], skews: readonly [number, number]): number {
  let now = start;
  let made = 0;
  let rotations = 0;
  let stored: AuthorityRecord = {
    signing: authority(),
    phase: { kind: "steady" },
    request: undefined,
    handled: undefined,
    lifetimeMs,
  };
  const read: (AuthorityRecord | undefined)[] = [undefined, undefined];
  const replicas = [0, 1].map((): Replica => ({ known: stored, confirmedAt: now }));
  const agents = [2, 2, 2, 1].map(
    (version): Agent => ({
      version: version === 1 ? 1 : 2,
      trusted: trustedBy(stored),
      certificate: issue(stored),
      at: undefined,
      hasSeen: true,
    }),
  );
  for (const agent of agents) connect(agent, pick(replicas, 0));

  function authority() {
    const next = pick(authorities, made % authorities.length);
    made += 1;
    return next;
  }

  function issue(record: AuthorityRecord): Agent["certificate"] {
    const notBefore = now - lifetimeMs / 12;
    return { by: record.signing.certificatePem, notBefore, notAfter: now + lifetimeMs };
  }

  function observe(replica: Replica): void {
    replica.known = stored;
    replica.confirmedAt = now;
    for (const agent of agents) if (agent.at === replica) deliver(agent, replica);
  }

  /** The state that a replica uses: its cache, which may be stale by `freshMs`. */
  function current(replica: Replica): AuthorityRecord {
    if (now - replica.confirmedAt > freshMs) observe(replica);
    return replica.known;
  }

  function deliver(agent: Agent, replica: Replica): void {
    if (agent.version === 1 || agent.trusted === trustedBy(replica.known)) return;
    replica.known = stored;
    replica.confirmedAt = now;
    agent.trusted = trustedBy(stored);
    agent.hasSeen = true;
  }

  function connect(agent: Agent, replica: Replica): void {
    const known = current(replica);
    if (!agent.hasSeen && !agent.trusted.includes(known.signing.certificatePem.trim())) return;
    check(agent, replica);
    agent.at = replica;
    if (agent.certificate.notAfter <= now) renew(agent, replica);
    deliver(agent, replica);
  }

  function renew(agent: Agent, replica: Replica): void {
    const known = current(replica);
    agent.certificate = issue(known);
    agent.trusted = trustedBy(known);
    agent.hasSeen ||= known.phase.kind === "introducing" || agent.trusted === trustedBy(stored);
  }

  function check(agent: Agent, replica: Replica): void {
    const known = current(replica);
    assert.ok(
      agent.trusted.includes(known.signing.certificatePem.trim()),
      `an agent of version ${agent.version} cannot verify the hub while it is ${known.phase.kind}`,
    );
    const { by, notAfter } = agent.certificate;
    assert.ok(
      notAfter <= now || trustedBy(known).includes(by.trim()),
      `the hub cannot verify an agent while it is ${known.phase.kind}`,
    );
  }

  function write(leader: 0 | 1): void {
    const record = read[leader];
    read[leader] = undefined;
    // What the API server does with a stale resourceVersion.
    if (record === undefined || record !== stored) return;
    const clock = now + skews[leader];
    const step = planRotation({ record, now: clock, lifetimeMs });
    if (step.kind === "wait") return;
    stored = takeStep(record, step, { created: authority(), now: clock });
    if (step.kind === "retire") rotations += 1;
    // From now on each agent has to receive it.
    if (step.kind === "introduce") for (const agent of agents) agent.hasSeen = false;
  }

  for (const one of moves) {
    switch (one.kind) {
      case "pass":
        now += one.ms;
        for (const replica of replicas) current(replica);
        for (const agent of agents) {
          const { notBefore, notAfter } = agent.certificate;
          const isDue = now >= notBefore + ((notAfter - notBefore) * 2) / 3;
          if (agent.at !== undefined && isDue) renew(agent, agent.at);
        }
        break;
      case "read":
        read[one.leader] = stored;
        break;
      case "write":
        write(one.leader);
        break;
      case "lead":
        read[one.leader] = stored;
        write(one.leader);
        break;
      case "die":
        read[one.leader] = undefined;
        break;
      case "ask":
        if (stored.request === stored.handled) stored = { ...stored, request: `${now}` };
        break;
      case "observe":
        observe(pick(replicas, one.replica));
        break;
      case "connect":
        connect(pick(agents, one.agent), pick(replicas, one.replica));
        break;
      case "leave":
        pick(agents, one.agent).at = undefined;
        break;
    }
    for (const agent of agents) {
      if (agent.hasSeen || agent.at !== undefined) {
        for (const replica of replicas) check(agent, replica);
      }
    }
  }
  return rotations;
}

function pick<T>(list: readonly T[], index: number): T {
  const found = list[index];
  assert.ok(found !== undefined);
  return found;
}

test("agents that are connected during an introduction stay trusted", () => {
  let rotations = 0;
  const skew = fc.integer({ min: -120_000, max: 120_000 });
  fc.assert(
    fc.property(
      fc.array(move, { minLength: 200, maxLength: 600, size: "max" }),
      fc.tuple(skew, skew),
      (moves, skews) => {
        rotations += run(moves, skews);
      },
    ),
    { numRuns: 150, endOnFailure: true },
  );
  assert.ok(rotations > 100, `${rotations} rotations were completed, too few to prove anything`);
});
