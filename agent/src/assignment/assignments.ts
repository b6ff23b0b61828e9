/**
 * What this cluster was assigned, kept in the cluster itself: the agent goes on when the hub is away and when it was
 * restarted. Nothing leaves here because it was not mentioned; only a withdrawal that was carried out does.
 */
import type { DeploymentKey, ObservedDeployment } from "@flotilla/proto/messages.ts";
import { contentErrors } from "@flotilla/shared/content/content.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { agentErrors } from "../errors.ts";
import type { Assignment } from "../link/ports.ts";
import { createTurns } from "../storage/turns.ts";
import type { HeldAssignment } from "./assignment-secret.ts";
import type { AssignmentStorage } from "./assignment-storage.ts";

export interface Assignments {
  /** Reads what is stored. To be called once, before anything else. */
  load(): Promise<void>;
  get(name: string): HeldAssignment | undefined;
  list(): readonly HeldAssignment[];
  holdings(): readonly ObservedDeployment[];
  /**
   * Known at once; gives whether it could be stored. Redelivery changes nothing. Throws CONTENT_INVALID for what cannot be
   * carried out by anybody.
   */
  assign(assignment: Assignment): Promise<boolean>;
  /** `unknown` when there is nothing of that deployment to withdraw. */
  withdraw(deployment: DeploymentKey): Promise<"stored" | "not stored" | "unknown">;
  /** Resolves once what is known of a name is stored, trying again where that failed. Throws ASSIGNMENT_NOT_KEPT. */
  stored(name: string): Promise<void>;
  /** Forgets a deployment that is uninstalled; nothing happens when a newer one of that name has come. */
  remove(deployment: DeploymentKey): Promise<void>;
  onChange(listener: (name: string) => void): void;
}

export interface AssignmentsDeps {
  readonly storage: AssignmentStorage;
  readonly log: Log;
}

export function createAssignments({ storage, log }: AssignmentsDeps): Assignments {
  const held = new Map<string, HeldAssignment>();
  /** One write at a time for each name; each writes what is wanted when its turn comes. */
  const writes = createTurns();
  /** Names of which what is wanted is not stored: a write is under way, or has failed. */
  const unstored = new Set<string>();
  const listeners: ((name: string) => void)[] = [];

  function changed(name: string): void {
    for (const listener of listeners) listener(name);
  }

  function store(name: string): Promise<void> {
    unstored.add(name);
    return writes.take(name, () => write(name));
  }

  async function write(name: string): Promise<void> {
    const wanted = held.get(name);
    if (wanted === undefined) return;
    try {
      await storage.store(wanted);
    } catch (thrown) {
      throw new AppError(
        agentErrors.ASSIGNMENT_NOT_KEPT,
        `what the hub assigned could not be kept in this cluster: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
    if (held.get(name) === wanted) unstored.delete(name);
  }

  /** Whoever carries it out learns of a failure by `stored`. */
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
      for (const assignment of await storage.load()) held.set(assignment.owner.name, assignment);
    },
    get: (name) => held.get(name),
    list: () => [...held.values()],
    holdings: () =>
      [...held.values()].map(({ owner, deploymentId, paused, withdrawing }) => ({
        ...owner,
        deploymentId,
        paused,
        withdrawing,
      })),
    async assign({ deployment, deploymentId, content, paused }) {
      const current = held.get(deployment.name);
      const bytes =
        content ?? (current?.deploymentId === deploymentId ? current.content : undefined);
      if (bytes === undefined) {
        throw new AppError(
          contentErrors.CONTENT_INVALID,
          `the hub assigned ${deployment.name} without its content ${deploymentId}, which is not held here`,
        );
      }
      if (
        current?.owner.uid === deployment.uid &&
        current.deploymentId === deploymentId &&
        current.paused === paused &&
        !current.withdrawing
      ) {
        return !unstored.has(deployment.name) || (await tryToStore(deployment.name));
      }
      held.set(deployment.name, {
        owner: deployment,
        deploymentId,
        content: bytes,
        paused,
        withdrawing: false,
      });
      changed(deployment.name);
      return await tryToStore(deployment.name);
    },
    async withdraw({ name, uid }) {
      const current = held.get(name);
      if (current === undefined || current.owner.uid !== uid) return "unknown";
      if (!current.withdrawing) {
        held.set(name, { ...current, withdrawing: true });
        changed(name);
      } else if (!unstored.has(name)) return "stored";
      return (await tryToStore(name)) ? "stored" : "not stored";
    },
    async stored(name) {
      // The turn that comes last writes what is wanted now.
      if (unstored.has(name)) await (writes.last(name) ?? store(name));
    },
    async remove(deployment) {
      const current = held.get(deployment.name);
      if (current === undefined || current.owner.uid !== deployment.uid || !current.withdrawing)
        return;
      await writes.take(deployment.name, async () => {
        if (held.get(deployment.name) !== current) return;
        await storage.remove(deployment.name);
        // A newer one that came meanwhile is stored after this.
        if (held.get(deployment.name) !== current) return;
        held.delete(deployment.name);
        unstored.delete(deployment.name);
      });
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
