/** Runs a history of changes with leaders that may lose their memory between any two steps, and says what they decided. */
import assert from "node:assert/strict";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import type { TestLeader } from "../../../testing/index.ts";
import type { FleetStep, RepositoryState } from "./fleet-steps.ts";

/** Longer than the delay of a status write. */
const quietMs = 1_119;

/**
 * A step takes a multiple of this time, so that both histories are at the same time whatever a rate limiter delays. No
 * step ends at a whole second after another: retries do, and one may be some milliseconds late after a conflict.
 */
const stepMs = 5_037;

/** Steps after which a fleet has settled in any history. */
const mostSteps = 40;

export interface History<S> {
  readonly leader: TestLeader;
  readonly repository: RepositoryState;
  readonly steps: readonly S[];
  /** By step: whether another leader begins before it. */
  readonly drops: readonly boolean[];
  readonly apply: (step: S) => void;
  /** The kinds of the objects that are compared. */
  readonly kinds: readonly Resource<KubeObject>[];
}

type Wait = Extract<FleetStep, { readonly kind: "wait" }>;

/** Runs a history; returns what was decided after each step. */
export async function runHistory<S extends { readonly kind: string } | Wait>(
  history: History<S>,
): Promise<readonly unknown[]> {
  const { leader, repository, steps, drops, apply, kinds } = history;
  const decisions: unknown[] = [];
  try {
    for (const [index, step] of steps.entries()) {
      if (drops[index] === true) await leader.drop();
      apply(step);
      if (isWait(step)) await leader.pass(step.ms);
      await untilSettled(leader, repository);
      const objects = kinds.flatMap((kind) => snapshot(leader, kind));
      decisions.push({ step, requests: repository.requests, objects });
    }
  } finally {
    await leader.stop();
  }
  return decisions;
}

function isWait(step: { readonly kind: string }): step is Wait {
  return step.kind === "wait";
}

/** Advances the clock until a step makes no request and no write, so that each status is written. */
export async function untilSettled(leader: TestLeader, repository: RepositoryState): Promise<void> {
  for (let steps = 0; steps < mostSteps; steps += 1) {
    await leader.pass(stepMs - quietMs);
    const before = [leader.rest.writes.length, repository.requests];
    await leader.pass(quietMs);
    const after = [leader.rest.writes.length, repository.requests];
    if (after.every((count, index) => count === before[index])) return;
  }
  assert.fail(`it never settles: ${leader.rest.writes.slice(-10).join(", ")}`);
}

/** Fields with a timestamp or a UID, or that depend on the number of writes. */
const volatileFields: ReadonlySet<string> = new Set([
  "uid",
  "flotilla.dev/bundle-uid",
  "flotilla.dev/signature",
  "flotilla.dev/pin-signature",
  "flotilla.dev/provenance-signature",
  "resourceVersion",
  "lastTransitionTime",
  "lastUpdateTime",
  "lastAttemptTime",
  "lastPollingTriggered",
  "nextAttemptTime",
  "time",
]);

function snapshot({ rest }: TestLeader, kind: Resource<KubeObject>): readonly unknown[] {
  return rest
    .all(kind)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((object) => stable(object));
}

/** Without what differs between two histories of the same decisions. */
export function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value === "string") return value.replace(/retrying at \S+Z/, "retrying");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !volatileFields.has(field))
      .map(([field, inner]) => [field, stable(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
