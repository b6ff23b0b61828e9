/** The deployments of one agent: what it has stored, compared with the BundleDeployments of its cluster as they are now. */

import type { HubMessage, ObservedDeployment, PlanVerification } from "@flotilla/proto";
import type { AgentCapability, BundleDeployment } from "@flotilla/shared/api";
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { ContentReader, DeploymentTrust } from "../../rules/index.ts";
import { boundSources } from "./bound-sources.ts";
import { type DispatchStep, planDeployment, storedAfter } from "./plan.ts";
import type { Withdrawals } from "./withdrawals.ts";

export interface AssignmentsDeps {
  /** The protocol version of the stream. */
  readonly protocolVersion: number;
  /** What the agent has, by its Hello. */
  readonly stored: readonly ObservedDeployment[];
  /** The BundleDeployment of a name in the cluster namespace, as it is now. */
  readonly desired: (name: string) => BundleDeployment | undefined;
  /** The deployments of its Bundle, in all clusters, whose agents reported what they received of a bucket. */
  readonly sourceReports: (name: string) => readonly BundleDeployment[];
  readonly contents: ContentReader;
  /** Only contents that the hub has assigned to a deployment are sent. */
  readonly trust: DeploymentTrust;
  /** What the agent says that it can do. */
  readonly capabilities: readonly string[];
  readonly withdrawals: Withdrawals;
  /** Requests another `next` of a name. */
  readonly enqueue: (name: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Assignments {
  /** The message about a name that is due now; `undefined` when the agent is up to date, or after a failure, which is retried. */
  next(name: string): Promise<HubMessage | undefined>;
  /** Whether the agent has a deployment of that name that it is not uninstalling. */
  has(name: string): boolean;
  /** The agent reports that it no longer has it. */
  uninstalled(name: string, uid: string): void;
  close(): void;
}

const verifying: AgentCapability = "VerifyPlan";

/** Older agents would uninstall it. */
const keepReleaseVersion = 2;

const backoff = { firstMs: 1_000, longestMs: 60_000 };

export function createAssignments(deps: AssignmentsDeps): Assignments {
  const { sourceReports, contents, withdrawals, enqueue, clock, log } = deps;
  const stored = new Map(deps.stored.map((each) => [each.name, each]));
  const failures = new Map<string, number>();
  const timers = new Map<string, Timer>();

  async function next(name: string): Promise<HubMessage | undefined> {
    const desired = deps.desired(name);
    const step = planDeployment(stored.get(name), desired);
    switch (step.kind) {
      case "nothing":
        return undefined;
      case "withdraw":
        if (!(await mayWithdraw(name, step.deployment.uid))) return undefined;
        return await withdrawal(name, step, desired);
      case "deploy": {
        // Signed, it changes, and is sent. What the agent has stays until then.
        if (step.withContent && desired !== undefined && !deps.trust.isTrusted(desired))
          return untrusted(name, step.deploymentId);
        const verification = verificationOf(step, desired);
        if (verification === "impossible") return unverified(name, step.deploymentId);
        const content = step.withContent ? await read(name, step.deploymentId) : undefined;
        if (step.withContent && content === undefined) return undefined;
        stored.set(name, storedAfter(step, stored.get(name)));
        const { deployment, deploymentId, paused, request } = step;
        const sources = boundSources(sourceReports(name));
        return {
          kind: "deployment",
          deployment,
          deploymentId,
          paused,
          ...(content !== undefined && { content }),
          ...(request !== undefined && { request }),
          ...(sources.length > 0 && { sources }),
          ...(verification !== undefined && { verification }),
        };
      }
    }
  }

  /** `impossible`: the agent would install without it. */
  function verificationOf(
    { verification }: Extract<DispatchStep, { kind: "deploy" }>,
    desired: BundleDeployment | undefined,
  ): PlanVerification | "impossible" | undefined {
    if (verification === undefined || desired === undefined) return undefined;
    const key = deps.trust.planKeyOf(desired);
    return key === undefined || !deps.capabilities.includes(verifying)
      ? "impossible"
      : { ...verification, key };
  }

  function unverified(name: string, deploymentId: string): undefined {
    log.warn(
      { deployment: name, deploymentId },
      "the content of a deployment is not sent: its stage has approval.verify, and the agent does not plan once more right before Helm runs; upgrade the agent",
    );
  }

  async function withdrawal(
    name: string,
    step: Extract<DispatchStep, { kind: "withdraw" }>,
    desired: BundleDeployment | undefined,
  ): Promise<HubMessage | undefined> {
    const { deployment, lostId, keepsRelease } = step;
    if (keepsRelease) {
      if (deps.protocolVersion < keepReleaseVersion) {
        log.warn(
          { deployment: name },
          "suspended deployment was deleted, and its agent is too old to leave the release installed; upgrade the agent, or remove the finalizer of the BundleDeployment",
        );
        return undefined;
      }
      stored.set(name, storedAfter(step, stored.get(name)));
      return { kind: "withdrawal", deployment, keepsRelease };
    }
    const isSigned = desired === undefined || deps.trust.isSigned(desired);
    const content = lostId === undefined || !isSigned ? "missing" : await readLost(name, lostId);
    if (content === undefined) return undefined;
    stored.set(name, storedAfter(step, stored.get(name)));
    // Without its content the agent confirms what it cannot look for: otherwise the tombstone would stay for ever.
    if (lostId === undefined || content === "missing") return { kind: "withdrawal", deployment };
    return { kind: "withdrawal", deployment, lost: { deploymentId: lostId, content } };
  }

  /** No BundleDeployment can make a content exist again that somebody has deleted, so it is not waited for. */
  async function readLost(
    name: string,
    lostId: string,
  ): Promise<Uint8Array | "missing" | undefined> {
    try {
      return await contents.read(lostId);
    } catch (thrown) {
      if (AppError.from(thrown).code !== hubErrors.CONTENT_MISSING.code)
        return unreadable(name, lostId, thrown);
      log.warn(
        { deployment: name, deploymentId: lostId },
        "the content of a withdrawn deployment does not exist; an agent that has lost it confirms without looking for its release",
      );
      return "missing";
    }
  }

  /** `undefined` when it cannot be read now. Other deployments do not wait for the retry. */
  async function read(name: string, deploymentId: string): Promise<Uint8Array | undefined> {
    try {
      const content = await contents.read(deploymentId);
      failures.delete(name);
      return content;
    } catch (thrown) {
      return unreadable(name, deploymentId, thrown);
    }
  }

  function unreadable(name: string, deploymentId: string, thrown: unknown): undefined {
    const retryMs = retryLater(name);
    log.warn(
      { deployment: name, deploymentId, err: messageOf(thrown), retryMs },
      "cannot read the content of a deployment; retrying",
    );
  }

  function untrusted(name: string, deploymentId: string): undefined {
    log.warn(
      { deployment: name, deploymentId },
      "the content of a deployment is not sent: somebody other than the hub wrote it, or its Bundle does not exist; it is sent when the Bundle's controller has written the BundleDeployment again",
    );
  }

  /** Also false while that cannot be decided. */
  async function mayWithdraw(name: string, uid: string): Promise<boolean> {
    try {
      const isAllowed = await withdrawals.mayBeSent(uid);
      failures.delete(name);
      return isAllowed;
    } catch (thrown) {
      const retryMs = retryLater(name);
      log.warn(
        { deployment: name, err: messageOf(thrown), retryMs },
        "cannot read the Cluster to confirm a withdrawal; retrying",
      );
      return false;
    }
  }

  function retryLater(name: string): number {
    const count = (failures.get(name) ?? 0) + 1;
    failures.set(name, count);
    const retryMs = backoffDelayMs(backoff, count);
    timers.get(name)?.cancel();
    timers.set(
      name,
      clock.setTimeout(() => {
        timers.delete(name);
        enqueue(name);
      }, retryMs),
    );
    return retryMs;
  }

  return {
    next,
    has: (name) => stored.get(name)?.withdrawing === false,
    uninstalled(name, uid) {
      if (stored.get(name)?.uid === uid) stored.delete(name);
    },
    close() {
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
