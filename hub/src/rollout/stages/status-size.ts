/**
 * Keeps the status of a BundleRollout small, whatever the fleet and whatever people write into Gates: what is for people is cut first.
 * Pure, and the same for what it has cut already, so that a step that changes nothing writes nothing.
 */
import type { BundleRolloutStatus, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { cutText } from "@flotilla/shared/text";

/** The limit of a status, as JSON. */
export const mostStatusBytes = 32 * 1024;

/** What is cut, in this order, until it fits. The last one leaves what decides. */
const cuts: readonly ((stage: StageStatus) => StageStatus)[] = [
  (stage) => withMessages(stage, 64),
  (stage) => withDecisions(stage, { message: 64, by: 512 }),
  (stage) => ({ ...stage, failing: stage.failing?.slice(0, 1) }),
  (stage) => withDecisions(withMessages(stage, 0), { message: 0, by: 64 }),
  (stage) => ({ ...stage, gates: newest(stage.gates ?? []) }),
];

export function fitted(status: BundleRolloutStatus): BundleRolloutStatus {
  let fits = status;
  for (const cut of cuts) {
    if (bytesOf(fits) <= mostStatusBytes) break;
    fits = { ...fits, stages: (fits.stages ?? []).map((stage) => withoutEmpty(cut(stage))) };
  }
  return fits;
}

function bytesOf(status: BundleRolloutStatus): number {
  return Buffer.byteLength(JSON.stringify(status));
}

function withMessages(stage: StageStatus, chars: number): StageStatus {
  const failing = stage.failing?.map((each) => ({
    ...each,
    message: cutText(each.message, chars),
  }));
  return { ...stage, failing };
}

function withDecisions(
  stage: StageStatus,
  chars: { readonly message: number; readonly by: number },
): StageStatus {
  const gates = stage.gates?.map((record) => {
    const { decision } = record;
    if (decision === undefined) return record;
    const message = decision.message && cutText(decision.message, chars.message);
    const by = cutText(decision.by, chars.by);
    return { ...record, decision: { ...decision, by, ...(message && { message }) } };
  });
  return { ...stage, gates };
}

/** The newest record of each gate, and all whose approval of a plan may still let clusters through. */
function newest(records: readonly GateRecord[]): readonly GateRecord[] {
  return records.filter(
    ({ name, plan, result }, index) =>
      (plan !== undefined && result === "Passed") ||
      records.findLastIndex((each) => each.name === name) === index,
  );
}

/** As JSON has it: absent, and not undefined. */
function withoutEmpty({ failing, gates, ...stage }: StageStatus): StageStatus {
  return {
    ...stage,
    ...(gates !== undefined && { gates }),
    ...(failing !== undefined && { failing }),
  };
}
