/** What one replica at a time does: it leads for as long as its Lease is its own. */
import { randomUUID } from "node:crypto";
import { hubNamespace } from "@flotilla/shared/api/names.ts";
import { runAsLeader } from "@flotilla/shared/kube/leader.ts";
import { guardWrites } from "@flotilla/shared/kube/leadership.ts";
import { createPinSeals } from "../helm-op/pin-seals.ts";
import { readHubId } from "../identity/hub-id.ts";
import { ensureSealKey } from "../identity/seal-key.ts";
import { prepareWorkspaces } from "../workspace/prepare-workspaces.ts";
import type { ControlDeps } from "./control-deps.ts";
import { runControllers } from "./run-controllers.ts";

export interface LeadOptions extends Omit<ControlDeps, "hubId" | "seals"> {
  /** The name of this replica. */
  readonly replica: string;
  /** Keeps registration tokens until the signal aborts. */
  readonly runTokens: (signal: AbortSignal) => Promise<void>;
}

/** Leads whenever it is elected, until `signal` aborts. Throws LEADERSHIP_LOST. */
export function lead(options: LeadOptions, signal: AbortSignal): Promise<void> {
  const { rest, replica, runTokens, log } = options;
  return runAsLeader({
    rest,
    namespace: hubNamespace,
    name: "flotilla-hub",
    // One process, not one replica: a process that was started anew is not the holder that it was.
    identity: `${replica}_${randomUUID()}`,
    log,
    signal,
    onElected: async (leading, leadership) => {
      const guarded = guardWrites(rest, leadership);
      const [hubId, sealKey] = await Promise.all([
        readHubId(guarded),
        ensureSealKey(guarded, hubNamespace),
        prepareWorkspaces(guarded),
      ]);
      const seals = createPinSeals(sealKey);
      await Promise.all([
        runControllers({ ...options, rest: guarded, hubId, seals }, leading),
        runTokens(leading),
      ]);
    },
  });
}
