/**
 * The members of a rollout by stage and class, kept up report by report: while a stage promotes, a report moves one member and says whose
 * turn comes next, at the same cost however many there are. What else a report may mean, and everything that is not a report, needs an
 * evaluation of all members. A cache: it is made by an evaluation, and may be dropped at any time.
 */
import {
  type ClassedMember,
  classify,
  isAvailableOrNew,
  isForced,
  isUnavailable,
  type Member,
  type MemberClass,
} from "./member.ts";
import { hasPlanGates } from "./plan-gates.ts";
import { isEligible, unavailableCount } from "./promote.ts";
import { failureBreach, isReopened, isThrough } from "./stage-step.ts";
import type { StepResult } from "./staged-step.ts";
import { isBlocked, type StageParts, type StepInputs } from "./step-inputs.ts";

const classes: readonly MemberClass[] = [
  ...(["skipped", "done", "failed", "inFlight"] as const),
  ...(["paused", "offline", "offSchedule", "pending"] as const),
];

/** What is remembered of a member, as bits of a number: an object for each of ten thousand would be megabytes. */
const bits = { class: 0b111, unavailable: 1 << 3, broken: 1 << 4, available: 1 << 5 } as const;
const eligible = 1 << 6;
const stageShift = 7;
const stageMask = 0b1_1111;
const variantShift = 12;

export class MemberSets {
  readonly #parts: readonly Pick<StageParts, "context" | "limits">[];
  /** The stage that promotes. */
  readonly #current: number;
  readonly #states = new Map<string, number>();
  /** Keys of the stage, in the order in which they are promoted: those that were unavailable already come first. */
  readonly #queues: { readonly broken: string[]; readonly available: string[] };
  readonly #validUntilMs: number;
  readonly #evaluatedAtMs: number;
  #inFlight = 0;
  #unavailable: number;

  constructor(
    { parts, current, variantOf }: SetsInputs,
    { nowMs, validUntilMs }: { readonly nowMs: number; readonly validUntilMs: number },
  ) {
    this.#parts = parts.map(({ context, limits }) => ({ context, limits }));
    this.#current = current;
    this.#evaluatedAtMs = nowMs;
    this.#validUntilMs = validUntilMs;
    for (const [index, { members }] of parts.entries())
      for (const classed of members) {
        const { key } = classed.member;
        this.#states.set(key, stateOf(classed, { stage: index, variant: variantOf(key) }));
      }
    const { members, limits } = partAt(parts, current);
    this.#inFlight = members.filter((each) => each.class === "inFlight").length;
    this.#unavailable = unavailableCount(members, limits);
    const waiting = members.filter(isEligible);
    const keysOf = (some: readonly ClassedMember[]) => some.map(({ member }) => member.key);
    this.#queues = {
      broken: keysOf(waiting.filter(({ member }) => !isAvailableOrNew(member))).reverse(),
      available: keysOf(waiting.filter(({ member }) => isAvailableOrNew(member))).reverse(),
    };
  }

  /** Whether time alone has changed nothing since the evaluation. */
  isValidAt(nowMs: number): boolean {
    return nowMs < this.#validUntilMs;
  }

  /** The number that `variantOf` had for it; undefined: it is in no stage. */
  variantOf(key: string): number | undefined {
    const state = this.#states.get(key);
    return state === undefined ? undefined : state >> variantShift;
  }

  /** A member is so now. False: that may mean more than another number in its stage, so all of them have to be evaluated. */
  move(member: Member, nowMs: number): boolean {
    const before = this.#states.get(member.key);
    if (before === undefined || isBlocked(member) || isForced(member) || member.isHeld)
      return false;
    const stage = (before >> stageShift) & stageMask;
    const after = this.#stateNow(member, before, nowMs);
    if (after === before) return true;
    const [was, is] = [classOf(before), classOf(after)];
    const isMove = (was === "inFlight" && is === "done") || (was === "pending" && is !== "pending");
    if (stage !== this.#current || !isMove || (is !== "inFlight" && is !== "done")) return false;
    this.#states.set(member.key, after);
    this.#inFlight += Number(is === "inFlight") - Number(was === "inFlight");
    this.#unavailable +=
      Number(has(after, bits.unavailable)) - Number(has(before, bits.unavailable));
    return true;
  }

  /**
   * The members to promote now, in order. Each has to be moved once that is written. `memberOf`: as it is now. Undefined: the stage may
   * have come to its end, or something has changed, so all members have to be evaluated.
   */
  next(
    memberOf: (key: string) => Member | undefined,
    nowMs: number,
  ): readonly Member[] | undefined {
    const { maxUnavailable } = partAt(this.#parts, this.#current).limits;
    const { broken, available } = this.#queues;
    const chosen: Member[] = [];
    let unavailable = this.#unavailable;
    while (this.#inFlight + chosen.length < maxUnavailable) {
      const isFree = unavailable < maxUnavailable;
      const key = broken.pop() ?? (isFree ? available.pop() : undefined);
      if (key === undefined) break;
      const member = memberOf(key);
      const before = this.#states.get(key);
      if (member === undefined || before === undefined) return undefined;
      // Promoted since it was queued.
      if (classOf(before) !== "pending") continue;
      if (isForced(member) || this.#stateNow(member, before, nowMs) !== before) return undefined;
      if (isAvailableOrNew(member)) unavailable += 1;
      chosen.push(member);
    }
    return this.#inFlight + chosen.length === 0 ? undefined : chosen;
  }

  /** A clock that was set back counts as one that stands still. */
  #stateNow(member: Member, before: number, nowMs: number): number {
    const stage = (before >> stageShift) & stageMask;
    const { context } = partAt(this.#parts, stage);
    const now = Math.max(nowMs, this.#evaluatedAtMs);
    const classed = classify(member, { ...context, nowMs: now });
    return stateOf(classed, { stage, variant: before >> variantShift });
  }
}

export interface SetsInputs {
  readonly parts: readonly StageParts[];
  readonly current: number;
  /** A number that is remembered for each member. */
  readonly variantOf: (key: string) => number;
}

/**
 * Of an evaluation that decided nothing new. Undefined: the rollout does not promote, or a report may mean more than another number of
 * the stage that does.
 */
export function memberSetsOf(
  inputs: StepInputs,
  { isStored, status, parts, toPlan, held, wakesAtMs }: StepResult,
  variantOf: SetsInputs["variantOf"],
): MemberSets | undefined {
  const { spec, strategy, members, isPaused, goesBack, isSuperseded, nowMs } = inputs;
  const isRunning = (spec.state ?? "Running") === "Running" && !isPaused;
  const isPromoting = status.phase === "Progressing" && status.reason === "Promoting";
  if (!isStored || !isRunning || !isPromoting || goesBack || isSuperseded) return undefined;
  // What would change in a member, and who is forced next, depends on all of them.
  if (toPlan.length > 0 || hasPlanGates(strategy) || members.some(isForced)) return undefined;
  // What is held has to be let go as soon as it is applied.
  if (held.size > 0 || members.some(({ isHeld }) => isHeld)) return undefined;
  if (parts.some(isReopened)) return undefined;
  const current = parts.findIndex(({ stored }) => !isThrough(stored?.phase));
  const part = parts[current];
  if (part?.stored?.phase !== "Progressing" || failureBreach(part) !== undefined) return undefined;
  const ends = [wakesAtMs, part.window.changesAtMs].filter((each) => each !== undefined);
  const validUntilMs = Math.min(...ends, Number.POSITIVE_INFINITY);
  return new MemberSets({ parts, current, variantOf }, { nowMs, validUntilMs });
}

function stateOf(
  classed: ClassedMember,
  { stage, variant }: { readonly stage: number; readonly variant: number },
): number {
  return (
    classes.indexOf(classed.class) |
    flag(isUnavailable(classed), bits.unavailable) |
    flag(classed.isBrokenBefore, bits.broken) |
    flag(isAvailableOrNew(classed.member), bits.available) |
    flag(isEligible(classed), eligible) |
    (stage << stageShift) |
    (variant << variantShift)
  );
}

function flag(isSet: boolean, bit: number): number {
  return isSet ? bit : 0;
}

function has(state: number, bit: number): boolean {
  return (state & bit) !== 0;
}

function classOf(state: number): MemberClass | undefined {
  return classes[state & bits.class];
}

function partAt<T>(parts: readonly T[], index: number): T {
  const part = parts[index];
  if (part === undefined) throw new Error(`there is no stage ${index}`);
  return part;
}
