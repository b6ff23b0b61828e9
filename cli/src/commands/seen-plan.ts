/** The plan that somebody decides about, as it is shown to them. */
import { AppError } from "@flotilla/shared/errors";
import type { FleetPlan } from "@flotilla/shared/plan";
import { planText } from "./plan-text.ts";

/** `isShown` false: there is no text of the changes, and `text` says why. */
export interface SeenPlan {
  readonly text: string;
  readonly isShown: boolean;
}

/** Never rejects because of the hub: who may approve may lack the right to read, and the plan is not kept for ever. */
export async function seenPlan(read: () => Promise<FleetPlan>): Promise<SeenPlan> {
  try {
    return { text: planText(await read()), isShown: true };
  } catch (thrown) {
    return {
      text: `the changes cannot be shown: ${AppError.from(thrown).message}\n`,
      isShown: false,
    };
  }
}
