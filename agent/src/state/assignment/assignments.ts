/**
 * The deployments that are assigned to this cluster, stored in the cluster: the agent continues without the hub and after a
 * restart. Absence removes nothing; only a completed withdrawal does.
 */
import type { DeploymentKey, ObservedDeployment } from "@flotilla/proto";
import { createKeyedMutex } from "@flotilla/shared/concurrency";
import { contentErrors } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import type { Assignment } from "./assignment-secret.ts";
import type { AssignmentStorage } from "./assignment-storage.ts";
import type { AssignmentRequest } from "./intake.ts";

export interface Assignments {
  /** Reads the stored assignments. Must be called once, before all other methods. */
  load(): Promise<void>;
  get(name: string): Assignment | undefined;
  list(): readonly Assignment[];
  /** What a Hello says of each. */
  observed(): readonly ObservedDeployment[];
  /**
   * Takes effect at once; the result says whether it could be stored. Idempotent. Throws CONTENT_INVALID for a request
   * without its content.
   */
  assign(request: AssignmentRequest): Promise<boolean>;
  /**
   * A withdrawal of a deployment whose assignment was lost: as `withdraw`. `content`: as the hub sent it, if what was installed
   * must be looked for; absent if it is known.
   */
  withdrawLost(
    deployment: DeploymentKey,
    deploymentId: string,
    content?: Uint8Array,
  ): Promise<"stored" | "not stored">;
  /** `unknown`: there is no such deployment. `keepsRelease`: see Assignment. */
  withdraw(
    deployment: DeploymentKey,
    keepsRelease?: true,
  ): Promise<"stored" | "not stored" | "unknown">;
  /** Resolves when the current assignment of a name is stored; retries a failed write. Throws ASSIGNMENT_NOT_STORED. */
  ensureStored(name: string): Promise<void>;
  /** Removes an uninstalled deployment, unless it was assigned again. */
  remove(deployment: DeploymentKey): Promise<void>;
  onChange(listener: (name: string) => void): void;
}

export interface AssignmentsDeps {
  readonly storage: AssignmentStorage;
  readonly log: Log;
}

export function createAssignments({ storage, log }: AssignmentsDeps): Assignments {
  const assigned = new Map<string, Assignment>();
  /** One write at a time for each name; each one writes the assignment that is current when it begins. */
  const writes = createKeyedMutex();
  /** Names whose current assignment is not stored: its write is in progress or has failed. */
  const unstored = new Set<string>();
  const listeners: ((name: string) => void)[] = [];

  function notify(name: string): void {
    for (const listener of listeners) listener(name);
  }

  function store(name: string): Promise<void> {
    unstored.add(name);
    return writes.run(name, () => write(name));
  }

  async function write(name: string): Promise<void> {
    const current = assigned.get(name);
    if (current === undefined) return;
    try {
      await storage.store(current);
    } catch (thrown) {
      throw new AppError(
        agentErrors.ASSIGNMENT_NOT_STORED,
        `store the assignment in this cluster: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
    if (assigned.get(name) === current) unstored.delete(name);
  }

  /** A failure is reported when the deployment is reconciled, by `ensureStored`. */
  async function tryToStore(name: string): Promise<boolean> {
    try {
      await store(name);
      return true;
    } catch (thrown) {
      log.warn({ deployment: name, err: messageOf(thrown) }, "assignment was not stored");
      return false;
    }
  }

  return {
    async load() {
      for (const assignment of await storage.load())
        assigned.set(assignment.owner.name, assignment);
    },
    get: (name) => assigned.get(name),
    list: () => [...assigned.values()],
    observed: () =>
      [...assigned.values()].map(
        ({ owner, deploymentId, paused, withdrawing, request, verification }) => ({
          ...owner,
          deploymentId,
          paused,
          withdrawing,
          ...(request !== undefined && { requestToken: request.token }),
          ...(verification !== undefined && { verificationAt: verification.at }),
        }),
      ),
    async assign({ deployment, deploymentId, content, paused, request, sources, ...sent }) {
      const { name, uid } = deployment;
      const current = assigned.get(name);
      const bytes =
        content ?? (current?.deploymentId === deploymentId ? current.content : undefined);
      if (bytes === undefined) {
        throw new AppError(
          contentErrors.CONTENT_INVALID,
          `the hub assigned ${name} without its content ${deploymentId}, which this agent does not have`,
        );
      }
      // It belongs to the content, and comes with it.
      const { verification } = content === undefined ? (current ?? {}) : sent;
      if (
        current?.owner.uid === uid &&
        current.deploymentId === deploymentId &&
        current.paused === paused &&
        current.request?.token === request?.token &&
        current.verification?.at === verification?.at &&
        !current.withdrawing
      ) {
        return !unstored.has(name) || (await tryToStore(name));
      }
      const owner = deployment;
      assigned.set(name, {
        owner,
        deploymentId,
        content: bytes,
        paused,
        withdrawing: false,
        ...(request !== undefined && { request }),
        ...(sources !== undefined && { sources }),
        ...(verification !== undefined && { verification }),
      });
      notify(name);
      return await tryToStore(name);
    },
    async withdraw({ name, uid }, keepsRelease) {
      const current = assigned.get(name);
      if (current === undefined || current.owner.uid !== uid) return "unknown";
      if (!current.withdrawing) {
        assigned.set(name, {
          ...current,
          withdrawing: true,
          ...(keepsRelease && { keepsRelease }),
        });
        notify(name);
      } else if (!unstored.has(name)) return "stored";
      return (await tryToStore(name)) ? "stored" : "not stored";
    },
    async withdrawLost(owner, deploymentId, content) {
      assigned.set(owner.name, {
        owner,
        deploymentId,
        paused: false,
        withdrawing: true,
        ...(content === undefined ? { content: new Uint8Array() } : { content, lost: true }),
      });
      notify(owner.name);
      return (await tryToStore(owner.name)) ? "stored" : "not stored";
    },
    async ensureStored(name) {
      // The last queued write stores the current assignment.
      if (unstored.has(name)) await (writes.last(name) ?? store(name));
    },
    async remove(deployment) {
      const current = assigned.get(deployment.name);
      if (current === undefined || current.owner.uid !== deployment.uid || !current.withdrawing)
        return;
      await writes.run(deployment.name, async () => {
        if (assigned.get(deployment.name) !== current) return;
        await storage.remove(deployment.name);
        // If it was assigned again meanwhile, the new assignment is stored afterwards.
        if (assigned.get(deployment.name) !== current) return;
        assigned.delete(deployment.name);
        unstored.delete(deployment.name);
      });
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
