/** The next action for a release that a test describes by what is unusual. */
import type { ReleaseRecord } from "../../../helm/cli/release-record.ts";
import { type Action, actionFor, type Circumstances } from "../action.ts";
import { type Desired, determineState, type Observed } from "../release-state.ts";

export const nowMs = 100_000_000;
export const lockTimeoutMs = 60_000;
export const owner = { id: "web", name: "web", uid: "1" };
export const other = { id: "shop", name: "shop", uid: "9" };
const desired: Desired = { owner, namespace: "apps", name: "web", digest: "new" };

/** As desired, and not changed for a second. */
export function record(fields: Partial<ReleaseRecord> = {}): ReleaseRecord {
  return {
    ...{ namespace: "apps", name: "web", revision: 4, status: "deployed" },
    ...{ owner, digest: "new", isOwn: true, modifiedAtMs: nowMs - 1_000 },
    ...fields,
  };
}

export type Given = Partial<Observed & Circumstances & Pick<Desired, "tests">>;

/** Without anything else, there is no release, and failures are retried. */
export function nextAction({ tests, ...given }: Given): Action {
  const state = determineState(
    { ...desired, tests },
    {
      latest: undefined,
      owned: given.latest === undefined ? [] : [given.latest],
      interruptedRun: undefined,
      deadline: undefined,
      testsOf: () => undefined,
      isAssigned: () => false,
      ...given,
    },
  );
  return actionFor(state, {
    ...{ retryAtMs: undefined, nowMs, unchangedMs: 1_000, lockTimeoutMs },
    ...{ isForced: false, mustUpgrade: false, mustCorrect: false },
    policies: { install: { kind: "retry" }, upgrade: { kind: "retry" } },
    rollbackTarget: { kind: "missing" },
    takesOwnership: false,
    ...given,
  });
}
