/**
 * One of the agents of a cluster is active at a time: the one that holds the Lease. The others wait, without a connection to
 * the hub, and write nothing.
 */
import { agentNamespace } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { type KubeRest, kubeErrors } from "@flotilla/shared/kube/client";
import {
  type Leadership,
  type LeaseTimes,
  runLeaderElection,
} from "@flotilla/shared/kube/leaderelection";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";

/**
 * An API server may be away for 16 s, as when it is restarted, before its agent disconnects from the hub. From the deadline,
 * at which all Helm processes are killed, to the end of the Lease are 6 s, so two agents never run Helm at the same time.
 */
export const agentLeaseTimes: LeaseTimes = {
  leaseDurationMs: 30_000,
  renewIntervalMs: 8_000,
  renewDeadlineMs: 24_000,
};

export interface LeadOptions {
  /** With connections of its own: a renewal of the Lease must not wait behind other requests. */
  readonly rest: KubeRest;
  /** A process that starts under the name of an earlier one goes on at once. */
  readonly identity: string;
  /** The work of the active agent, until `signal` aborts. It must keep nothing from one time to the next. */
  readonly run: (signal: AbortSignal, leadership: Leadership) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

export interface Election {
  /** The active agent, as last observed. */
  readonly holder: string | undefined;
  readonly isLeading: boolean;
  /** Runs the work whenever this agent is elected, until `signal` aborts or the work fails. */
  run(signal: AbortSignal): Promise<void>;
}

export function lead({ rest, identity, run, clock, log, random }: LeadOptions): Election {
  let holder: string | undefined;
  let isLeading = false;

  async function leadOnce(signal: AbortSignal): Promise<void> {
    await runLeaderElection({
      rest,
      namespace: agentNamespace,
      name: "flotilla-agent",
      identity,
      times: agentLeaseTimes,
      clock,
      log,
      signal,
      ...(random !== undefined && { random }),
      onNewLeader: (leader) => {
        holder = leader;
        if (leader !== undefined && leader !== identity)
          log.info({ active: leader }, "another agent is active, waiting as standby");
      },
      onStartedLeading: async (leading, leadership) => {
        isLeading = true;
        try {
          await run(leading, leadership);
        } finally {
          isLeading = false;
        }
      },
    });
  }

  return {
    get holder() {
      return holder;
    },
    get isLeading() {
      return isLeading;
    },
    async run(signal) {
      while (!signal.aborted) {
        try {
          await leadOnce(signal);
          return;
        } catch (thrown) {
          const error = AppError.from(thrown);
          if (error.code !== kubeErrors.LEADERSHIP_LOST.code) throw thrown;
          log.warn({ err: error.message }, "not the active agent any more, waiting as standby");
        }
      }
    },
  };
}
