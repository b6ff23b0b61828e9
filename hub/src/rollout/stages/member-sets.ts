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
  standsStill,
} from "./member.ts";
import type { MemberNumbers } from "./member-numbers.ts";
import { hasPlanGates } from "./plan-gates.ts";
import { isEligible, unavailableCount } from "./promote.ts";
import { failureBreach, isReopened, isThrough } from "./stage-step.ts";
import type { StepResult } from "./staged-step.ts";
import type { StageParts, StepInputs } from "./step-inputs.ts";

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
/** No state: all bits are set. */
const unknown = -1;

export class MemberSets {
  readonly #parts: readonly Pick<StageParts, "context" | "limits">[];
  /** The stage that promotes. */
  readonly #current: number;
  readonly #numbers: MemberNumbers;
  /** By number of the member; `unknown`: it is in no stage. */
  readonly #states: Int32Array;
  /** Numbers of members of the stage, in the order in which they are promoted: those that were unavailable already come first. */
  readonly #queues: { readonly broken: number[]; readonly available: number[] };
  readonly #validUntilMs: number;
  readonly #evaluatedAtMs: number;
  #inFlight = 0;
  #unavailable: number;

  constructor(
    { parts, current, members, numbers, variantAt }: SetsInputs,
    { nowMs, validUntilMs }: { readonly nowMs: number; readonly validUntilMs: number },
  ) {
    this.#parts = parts.map(({ context, limits }) => ({ context, limits }));
    this.#current = current;
    this.#evaluatedAtMs = nowMs;
    this.#validUntilMs = validUntilMs;
    this.#numbers = numbers;
    this.#states = new Int32Array(numbers.size).fill(unknown);
    this.#queues = { broken: [], available: [] };
    for (const [stage, part] of parts.entries()) {
      let number = 0;
      for (const classed of part.members) {
        // The members of a stage are in the order of all members.
        number = members.indexOf(classed.member, number);
        this.#states[number] = stateOf(classed, { stage, variant: variantAt(number) });
        if (stage === current && isEligible(classed))
          this.#queues[isAvailableOrNew(classed.member) ? "available" : "broken"].push(number);
      }
    }
    // The next one is taken from the end.
    for (const queue of Object.values(this.#queues)) queue.reverse();
    const promoting = partAt(parts, current);
    this.#inFlight = promoting.members.filter((each) => each.class === "inFlight").length;
    this.#unavailable = unavailableCount(promoting.members, promoting.limits);
  }

  /** Whether time alone has changed nothing since the evaluation. */
  isValidAt(nowMs: number): boolean {
    return nowMs < this.#validUntilMs;
  }

  /** What `variantAt` had for it; undefined: it is in no stage. */
  variantOf(key: string): number | undefined {
    const state = this.#stateOf(key);
    return state === undefined ? undefined : state >> variantShift;
  }

  /** A member is so now. False: that may mean more than another number in its stage, so all of them have to be evaluated. */
  move(member: Member, nowMs: number): boolean {
    const number = this.#numbers.numberOf(member.key);
    const before = this.#stateAt(number);
    if (number === undefined || before === undefined) return false;
    if (standsStill(member) || isForced(member)) return false;
    const stage = (before >> stageShift) & stageMask;
    const after = this.#stateNow(member, before, nowMs);
    if (after === before) return true;
    const [was, is] = [classOf(before), classOf(after)];
    const isMove = (was === "inFlight" && is === "done") || (was === "pending" && is !== "pending");
    if (stage !== this.#current || !isMove || (is !== "inFlight" && is !== "done")) return false;
    this.#states[number] = after;
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
      const number = broken.pop() ?? (isFree ? available.pop() : undefined);
      if (number === undefined) break;
      const member = memberOf(this.#numbers.keyAt(number));
      const before = this.#stateAt(number);
      if (member === undefined || before === undefined) return undefined;
      // Promoted since it was queued.
      if (classOf(before) !== "pending") continue;
      if (isForced(member) || this.#stateNow(member, before, nowMs) !== before) return undefined;
      if (isAvailableOrNew(member)) unavailable += 1;
      chosen.push(member);
    }
    return this.#inFlight + chosen.length === 0 ? undefined : chosen;
  }

  #stateOf(key: string): number | undefined {
    return this.#stateAt(this.#numbers.numberOf(key));
  }

  #stateAt(number: number | undefined): number | undefined {
    const state = number === undefined ? undefined : this.#states[number];
    return state === unknown ? undefined : state;
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
  /** All of them, in the order of their numbers. */
  readonly members: readonly Member[];
  readonly numbers: MemberNumbers;
  /** A small number that is remembered for each member, by its number. */
  readonly variantAt: (number: number) => number;
}

/**
 * The members by what they wait for, after an evaluation that decided nothing new. Undefined: the rollout does not promote, or a
 * report may mean more than another number of the stage that does.
 */
export function memberSetsOf(
  inputs: StepInputs,
  { isStored, status, parts, toPlan, held, wakesAtMs }: StepResult,
  { numbers, variantAt }: Pick<SetsInputs, "numbers" | "variantAt">,
): MemberSets | undefined {
  const { spec, strategy, isPaused, goesBack, isSuperseded, nowMs } = inputs;
  const isRunning = (spec.state ?? "Running") === "Running" && !isPaused;
  const isPromoting = status.phase === "Progressing" && status.reason === "Promoting";
  if (!isStored || !isRunning || !isPromoting || goesBack || isSuperseded) return undefined;
  // What would change in a member, and who is forced next, depends on all of them.
  if (toPlan.length > 0 || hasPlanGates(strategy) || inputs.members.some(isForced))
    return undefined;
  // What is held has to be let go as soon as it is applied. Whose deadline stands still gets one that nobody waits for yet.
  if (held.size > 0 || inputs.members.some(standsStill)) return undefined;
  if (parts.some(isReopened)) return undefined;
  const current = parts.findIndex(({ stored }) => !isThrough(stored?.phase));
  const part = parts[current];
  if (part?.stored?.phase !== "Progressing" || failureBreach(part) !== undefined) return undefined;
  const ends = [wakesAtMs, part.window.changesAtMs].filter((each) => each !== undefined);
  const validUntilMs = Math.min(...ends, Number.POSITIVE_INFINITY);
  return new MemberSets(
    { parts, current, members: inputs.members, numbers, variantAt },
    { nowMs, validUntilMs },
  );
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
