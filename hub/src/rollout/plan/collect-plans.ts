/** Deletes the Secrets of plans that nobody needs any more: a day after their gate was decided, or when it is gone. */
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { isNotFound, type KubeRest, listAll } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, parseTime } from "@flotilla/shared/time";
import { planDigestAnnotation, planLabel, planRolloutAnnotation } from "./plan-secret.ts";

export interface CollectPlansDeps {
  readonly rest: KubeRest;
  readonly rollouts: Pick<Store<BundleRollout>, "get">;
  /** The namespace of the Secrets. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
}

const everyMs = 3_600_000;
const keptMs = 24 * 3_600_000;

/** Whether a Secret may go. `rollout`: the one that its annotation names; undefined: it does not exist. */
export function isOutdatedPlan(
  { metadata }: Secret,
  rollout: BundleRollout | undefined,
  nowMs: number,
): boolean {
  const createdMs = parseTime(metadata.creationTimestamp);
  // It is written before the record of its Gate is complete.
  if (createdMs === undefined || nowMs - createdMs < keptMs) return false;
  const digest = metadata.annotations?.[planDigestAnnotation];
  const records = (rollout?.status?.stages ?? []).flatMap(({ gates }) => gates ?? []);
  const own = records.filter((record) => record.digest === digest);
  return own.every(({ result, decision }) => {
    const decidedMs = parseTime(decision?.at);
    return result !== "Waiting" && (decidedMs === undefined || nowMs - decidedMs >= keptMs);
  });
}

/** Until `signal` aborts. */
export async function runPlanCollection(
  deps: CollectPlansDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps;
  while (!signal.aborted) {
    await collect(deps, signal).catch((thrown: unknown) => {
      if (!signal.aborted) log.warn({ err: AppError.from(thrown).message }, "cannot collect plans");
    });
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, everyMs);
      signal.addEventListener("abort", () => [timer.cancel(), resolve()], { once: true });
      if (signal.aborted) resolve();
    });
  }
}

async function collect(
  { rest, rollouts, namespace, clock }: CollectPlansDeps,
  signal: AbortSignal,
): Promise<void> {
  const { objects } = await listAll({
    rest,
    resource: secrets,
    selection: { namespace, labelSelector: planLabel },
    // Their data is not needed, and large.
    transform: ({ metadata }: Secret): Secret => ({ metadata }),
    signal,
  });
  for (const secret of objects) {
    const key = secret.metadata.annotations?.[planRolloutAnnotation] ?? "";
    if (!isOutdatedPlan(secret, rollouts.get(key), clock.now())) continue;
    const { uid } = secret.metadata;
    try {
      await rest.delete(secrets, secret.metadata, { ...(uid !== undefined && { uid }), signal });
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
    }
  }
}
