/**
 * What one agent is told: the difference between what it holds, as far as this side knows, and the BundleDeployments
 * of its cluster as they are when the message is made. So a message is never older than the moment it is sent.
 */
import type { HubMessage, ObservedDeployment } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import type { ContentReader } from "../content/content-store.ts";
import { afterStep, planDeployment } from "./plan-handout.ts";
import type { Withdrawals } from "./withdrawals.ts";

export interface AssignmentsDeps {
  readonly holdings: readonly ObservedDeployment[];
  /** The BundleDeployment of a name in the cluster's namespace, as it is now. */
  readonly wanted: (name: string) => BundleDeployment | undefined;
  readonly contents: ContentReader;
  readonly withdrawals: Withdrawals;
  /** Asks for `next` of a name. */
  readonly again: (name: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Assignments {
  /** The message about a name that is due now; `undefined` when the agent is up to date. */
  next(name: string): Promise<HubMessage | undefined>;
  /** Whether the agent holds something of that name that is not on its way out. */
  holds(name: string): boolean;
  /** The agent says that it no longer holds it. */
  released(name: string, uid: string): void;
  close(): void;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

export function createAssignments(deps: AssignmentsDeps): Assignments {
  const { wanted, contents, withdrawals, again, clock, log } = deps;
  const held = new Map(deps.holdings.map((holding) => [holding.name, holding]));
  const failures = new Map<string, number>();
  const timers = new Map<string, Timer>();

  async function next(name: string): Promise<HubMessage | undefined> {
    const step = planDeployment(held.get(name), wanted(name));
    switch (step.kind) {
      case "nothing":
        return undefined;
      case "withdraw":
        if (!(await mayWithdraw(name, step.deployment.uid))) return undefined;
        held.set(name, afterStep(step));
        return { kind: "withdrawal", deployment: step.deployment };
      case "deploy": {
        const content = step.withContent ? await read(name, step.deploymentId) : undefined;
        if (step.withContent && content === undefined) return undefined;
        held.set(name, afterStep(step));
        const { deployment, deploymentId, paused } = step;
        return {
          kind: "deployment",
          deployment,
          deploymentId,
          paused,
          ...(content !== undefined && { content }),
        };
      }
    }
  }

  /** `undefined` when it cannot be had now; it is tried again by itself, and the others do not wait for it. */
  async function read(name: string, deploymentId: string): Promise<Uint8Array | undefined> {
    try {
      const content = await contents.read(deploymentId);
      failures.delete(name);
      return content;
    } catch (thrown) {
      const retryMs = retryLater(name);
      log.warn(
        { deployment: name, deploymentId, err: messageOf(thrown), retryMs },
        "content could not be read, so the deployment waits",
      );
      return undefined;
    }
  }

  /** False when it may not, and when that cannot be known now. */
  async function mayWithdraw(name: string, uid: string): Promise<boolean> {
    try {
      const isAllowed = await withdrawals.mayBeSent(uid);
      failures.delete(name);
      return isAllowed;
    } catch (thrown) {
      const retryMs = retryLater(name);
      log.warn(
        { deployment: name, err: messageOf(thrown), retryMs },
        "it could not be looked up whether the Cluster is still there, so the withdrawal waits",
      );
      return false;
    }
  }

  function retryLater(name: string): number {
    const count = failures.get(name) ?? 0;
    failures.set(name, count + 1);
    const retryMs = Math.min(longestRetryMs, firstRetryMs * 2 ** count);
    timers.get(name)?.cancel();
    timers.set(
      name,
      clock.setTimeout(() => {
        timers.delete(name);
        again(name);
      }, retryMs),
    );
    return retryMs;
  }

  return {
    next,
    holds: (name) => held.get(name)?.withdrawing === false,
    released(name, uid) {
      if (held.get(name)?.uid === uid) held.delete(name);
    },
    close() {
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
