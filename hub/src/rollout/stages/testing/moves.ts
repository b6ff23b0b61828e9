/** Compares what reports of single members lead to with an evaluation of all of them, at each pass of a history. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { refOf } from "@flotilla/shared/kube/objects";
import type { Member } from "../member.ts";
import { MemberNumbers } from "../member-numbers.ts";
import { type MemberSets, memberSetsOf } from "../member-sets.ts";
import type { Pass, Simulation } from "./simulation.ts";

export interface MoveCheck {
  readonly onPass: (pass: Pass) => void;
  /** How many members were promoted by reports alone. */
  readonly promoted: () => number;
}

export function createMoveCheck(simulation: Simulation): MoveCheck {
  let before:
    | { readonly pass: Pass; readonly others: string; readonly sets: MemberSets }
    | undefined;
  let count = 0;

  /** What drops the sets of a leader when it changes. */
  function othersOf({ inputs }: Pass): string {
    const { name, spec, stored, strategy, assignment, stable, isPaused } = inputs;
    const { goesBack, isSuperseded, next } = inputs;
    const own = { name, spec, decisions: decisionsIn(stored), strategy, stable, isPaused };
    const choice = { goesBack, isSuperseded, next };
    const decided = [[...simulation.decisions.keys()], simulation.isOtherRolledOut];
    const facts = [[...simulation.windows], ...decided];
    return JSON.stringify({ ...own, ...choice, assignment: [...assignment], facts });
  }

  function compare({ inputs, result }: Pass, sets: MemberSets, last: Pass): void {
    const { members, nowMs } = inputs;
    if (!sets.isValidAt(nowMs)) return;
    const known = new Map(last.inputs.members.map((member) => [member.key, member]));
    const now = new Map(members.map((member) => [member.key, member]));
    const changed = members.filter((member) => !isDeepStrictEqual(known.get(member.key), member));
    // Clusters that come and go change the assignment.
    if (known.size !== now.size || !changed.every((member) => known.has(member.key))) return;
    // As for a leader, what windows, labels and connections do is no report.
    if (changed.some((member) => !isReportOf(known.get(member.key), member))) return;
    if (!changed.every((member) => sets.move(member, nowMs))) return;
    const chosen = sets.next((key) => now.get(key), nowMs);
    if (chosen === undefined) return;
    assert.equal(result.isStored, true, "reports: something was to be decided");
    assert.deepEqual(
      chosen.map(({ key }) => key),
      result.promotions.map(({ member }) => member.key),
      "reports: others are promoted",
    );
    count += chosen.length;
  }

  return {
    onPass(pass) {
      const others = othersOf(pass);
      if (before?.others === others) compare(pass, before.sets, before.pass);
      const numbers = new MemberNumbers(pass.inputs.members.map(({ key }) => refOf(key)));
      const sets = memberSetsOf(pass.inputs, pass.result, { numbers, variantAt: () => 0 });
      before = sets && { pass, others, sets };
    },
    promoted: () => count,
  };
}

/** Without what is written each second. */
function decisionsIn(stored: Pass["inputs"]["stored"]): unknown {
  return (stored?.stages ?? []).map(({ name, phase, gates }) => [name, phase, gates]);
}

function isReportOf(before: Member | undefined, after: Member): boolean {
  return (
    before?.isConnected === after.isConnected &&
    before.isPaused === after.isPaused &&
    before.isOffSchedule === after.isOffSchedule &&
    before.isSkipped === after.isSkipped &&
    before.content === after.content
  );
}
