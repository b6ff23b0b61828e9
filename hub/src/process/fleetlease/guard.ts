/** Keeps the hub from running beside Fleet's controllers: watches their Leases, before the hub starts and while it runs. */
import { fleetLeaseNames, fleetNamespace } from "@flotilla/shared/api/names";
import { createWaker } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { fenceWrites, holderOf, watchLease } from "@flotilla/shared/kube/leaderelection";
import { keyOf, type Lease, leases } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { decide, type FleetDecision, type FleetLease, observe } from "./decision.ts";

export interface FleetGuard {
  /** Why the hub may not run, for people; undefined while it may. */
  blocked(): string | undefined;
  /** Resolves when the hub may run, or when `signal` aborts. Only while `run` runs. */
  opened(signal: AbortSignal): Promise<void>;
  /** Aborts with FLEET_RUNNING when Fleet's controllers start while the hub runs; nothing may be written after it. */
  readonly closed: AbortSignal;
  /** The same client, whose writes throw FLEET_RUNNING unless the hub may run. */
  fence(rest: KubeRest): KubeRest;
  /** Watches until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface FleetGuardOptions {
  readonly rest: KubeRest;
  /** Run although Leases of Fleet's exist, once they have expired. */
  readonly takeOver: boolean;
  readonly events: Pick<EventRecorder, "record">;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

const confirmRetryMs = 1_000;

const lookingText = `looking for Fleet's controllers: reading the Leases ${fleetLeaseNames.join(", ")} in namespace ${fleetNamespace}; the hub starts when it knows that none of them runs`;

export function createFleetGuard(options: FleetGuardOptions): FleetGuard {
  const { rest, takeOver, events, clock, log, random = Math.random } = options;
  const watches = fleetLeaseNames.map((name) => ({
    ref: { namespace: fleetNamespace, name },
    watch: watchLease({ rest, ref: { namespace: fleetNamespace, name }, clock, random, log }),
  }));
  const observed = new Map<string, FleetLease>();
  const closing = new AbortController();
  const waker = createWaker(clock);
  let isOpen = false;
  let why: string | undefined = lookingText;
  let recorded = false;

  for (const { ref, watch } of watches)
    watch.onChange(() => {
      const latest = watch.observed();
      if (latest === undefined) return;
      observed.set(ref.name, observe(observed.get(ref.name), latest.lease, latest.at));
      if (isOpen) closeIfRunning();
      else waker.wake();
    });

  function decision(): FleetDecision | undefined {
    if (observed.size < watches.length) return undefined;
    return decide([...observed.values()], { takeOver, now: clock.monotonic() });
  }

  function closeIfRunning(): void {
    const current = decision();
    // An expired Lease that appears is renewed for its duration, too: it did not exist when the hub started.
    if (current?.kind !== "running") return;
    isOpen = false;
    why = textOf(current, takeOver);
    log.error({ lease: keyOf(current.lease) }, why);
    closing.abort(new AppError(hubErrors.FLEET_RUNNING, why));
  }

  function say(current: Extract<FleetDecision, { readonly lease: Lease }>): void {
    const text = textOf(current, takeOver);
    if (why === text) return;
    why = text;
    log.warn({ lease: keyOf(current.lease) }, text);
    if (recorded) return;
    recorded = true;
    const [type, reason, action] = ["Warning", "FleetRunning", "Start"] as const;
    events.record(current.lease, { type, reason, action, note: text });
  }

  /** Reads what the watch may not have delivered: after a pause of this process, or of the connection. */
  async function confirm(signal: AbortSignal): Promise<boolean> {
    try {
      await Promise.all(
        watches.map(async ({ ref, watch }) =>
          watch.observe(await rest.get(leases, ref, { signal })),
        ),
      );
      return true;
    } catch (thrown) {
      log.warn({ err: AppError.from(thrown) }, "leases of fleet not read, retrying");
      await waker.wait(confirmRetryMs, signal);
      return false;
    }
  }

  return {
    blocked: () => why,
    closed: closing.signal,
    async opened(signal) {
      while (!signal.aborted) {
        const current = decision();
        if (current?.kind === "running" || current?.kind === "stopped") {
          say(current);
          await waker.wait(current.kind === "running" ? current.untilMs : undefined, signal);
        } else if (current === undefined) await waker.wait(undefined, signal);
        else if (current.kind === "absent" || (await confirm(signal))) {
          if (decision()?.kind !== current.kind) continue;
          if (current.kind === "takenOver")
            log.warn("taking over from Fleet, whose Leases have expired");
          isOpen = true;
          why = undefined;
          return;
        }
      }
    },
    fence: (unfenced) =>
      fenceWrites(unfenced, {
        confirmLeading() {
          if (isOpen) return Promise.resolve();
          return Promise.reject(new AppError(hubErrors.FLEET_RUNNING, why ?? lookingText));
        },
        remainingMs: () => Number.POSITIVE_INFINITY,
      }),
    async run(signal) {
      await Promise.all(watches.map(({ watch }) => watch.run(signal)));
    },
  };
}

function textOf(
  { kind, lease }: Extract<FleetDecision, { readonly lease: Lease }>,
  takeOver: boolean,
): string {
  const name = keyOf(lease);
  const nothing = "the hub serves nothing and writes nothing";
  const setting = "set --take-over-from-fleet (chart value takeOverFromFleet)";
  if (kind === "stopped")
    return `Fleet's controllers were in this cluster: Lease ${name} exists and is not renewed; ${nothing} until you decide; to have it take over from Fleet, ${setting} or delete the Lease`;
  const then = takeOver
    ? "the hub takes over once the Lease has expired"
    : `then ${setting} to have the hub take over`;
  return `Fleet's controllers run in this cluster: Lease ${name} is held by ${holderOf(lease)}; ${nothing}; uninstall Fleet or scale its controllers to 0; ${then}`;
}
