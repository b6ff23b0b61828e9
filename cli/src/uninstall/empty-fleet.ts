/** Removes everything that a fleet has on its hub, step by step (plan.ts). */
import { createSemaphore } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { isConflict, isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import type { Clock } from "@flotilla/shared/time";
import { cliErrors } from "../errors.ts";
import { describeRemedy, describeWaiting } from "./describe.ts";
import { type FleetObjects, readFleetObjects } from "./fleet-objects.ts";
import { planRemoval, type Removal, releasePatch } from "./plan.ts";

export interface EmptyFleetOptions {
  readonly rest: KubeRest;
  readonly keepReleases: boolean;
  /** How long nothing may have changed. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, "monotonic" | "setTimeout">;
  readonly print: (line: string) => void;
}

const parallelWrites = 16;
const pollMs = 500;

/**
 * Resolves with what is left once the fleet is empty. Throws UNINSTALL_INCOMPLETE when nothing has changed for the timeout;
 * it can be called again then.
 */
export async function emptyFleet(
  options: EmptyFleetOptions,
  signal: AbortSignal,
): Promise<FleetObjects> {
  const { rest, keepReleases, timeoutMs, clock, print } = options;
  const writes = createSemaphore(parallelWrites);
  let progress = { text: "", at: clock.monotonic() };

  for (;;) {
    const fleet = await readFleetObjects(rest, signal);
    const { removals, waitingFor } = planRemoval(fleet, { keepReleases });
    const [first] = waitingFor;
    if (first === undefined) return fleet;
    for (const kind of new Set(removals.map(({ resource }) => resource.kind))) {
      const ofKind = removals.filter(({ resource }) => resource.kind === kind);
      const deletions = ofKind.filter(({ action }) => action === "delete").length;
      if (deletions > 0) print(`deleting ${deletions} of kind ${kind}`);
    }
    await Promise.all(removals.map((removal) => writes.run(() => carryOut(rest, removal, signal))));
    const text = waitingFor.map((each) => describeWaiting(each, fleet)).join("; ");
    const hasProgressed = text !== progress.text;
    if (hasProgressed) {
      progress = { text, at: clock.monotonic() };
      if (removals.length === 0) print(text);
    } else if (clock.monotonic() - progress.at > timeoutMs)
      throw new AppError(
        cliErrors.UNINSTALL_INCOMPLETE,
        `empty the fleet on ${rest.server}: nothing has changed for ${Math.round(timeoutMs / 1_000)} s while ${text}; ${describeRemedy(first, keepReleases)}`,
      );
    if (removals.length === 0 || !hasProgressed) await pause(clock, signal);
  }
}

async function carryOut(rest: KubeRest, removal: Removal, signal: AbortSignal): Promise<void> {
  const { resource, object, action } = removal;
  const { uid } = object.metadata;
  try {
    if (action === "delete")
      await rest.delete(resource, object.metadata, {
        signal,
        ...(uid !== undefined && { uid }),
      });
    else {
      const patch = { type: "merge", body: releasePatch(removal) } as const;
      await rest.patch(resource, object.metadata, patch, { signal });
    }
  } catch (thrown) {
    // Removed or changed in the meantime: the next step sees it.
    if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
  }
}

function pause(clock: Pick<Clock, "setTimeout">, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(resolve, pollMs);
    signal.addEventListener(
      "abort",
      () => {
        timer.cancel();
        reject(AppError.from(signal.reason));
      },
      { once: true },
    );
  });
}
