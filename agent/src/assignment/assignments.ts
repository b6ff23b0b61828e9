/**
 * What this cluster was assigned, kept in the cluster itself: the agent goes on when the hub is away and when it was
 * restarted. Nothing leaves here because it was not mentioned; only a withdrawal that was carried out does.
 */
import type { DeploymentKey, Holding } from "@flotilla/proto/messages.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { contentErrors } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists, isConflict, isNotFound } from "@flotilla/shared/kube/status-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Assignment } from "../link/ports.ts";
import {
  assignmentSecret,
  assignmentSelector,
  type HeldAssignment,
  heldAssignment,
} from "./assignment-secret.ts";

export interface Assignments {
  /** Reads what is stored. To be called once, before anything else. */
  load(): Promise<void>;
  get(name: string): HeldAssignment | undefined;
  list(): readonly HeldAssignment[];
  holdings(): readonly Holding[];
  /** Known at once, resolves when it is stored. Redelivery changes nothing. */
  assign(assignment: Assignment): Promise<void>;
  /** False when there is nothing of that deployment to withdraw. Resolves when it is stored. */
  withdraw(deployment: DeploymentKey): Promise<boolean>;
  /** Forgets a deployment that is uninstalled; nothing happens when a newer one of that name has come. */
  remove(deployment: DeploymentKey): Promise<void>;
  onChange(listener: (name: string) => void): void;
}

export interface AssignmentsDeps {
  readonly rest: KubeRest;
  readonly log: Log;
}

/** What one Secret holds at most, in bytes before base64. */
const contentLimit = 700 * 1024;

export function createAssignments({ rest, log }: AssignmentsDeps): Assignments {
  const held = new Map<string, HeldAssignment>();
  const versions = new Map<string, string>();
  /** One write at a time for each name; each writes what is wanted when its turn comes. */
  const writes = new Map<string, Promise<void>>();
  /** Names of which what is wanted is not stored: a write is under way, or has failed. */
  const unstored = new Set<string>();
  const listeners: ((name: string) => void)[] = [];

  function changed(name: string): void {
    for (const listener of listeners) listener(name);
  }

  function store(name: string): Promise<void> {
    unstored.add(name);
    return inTurn(name, () => write(name));
  }

  function inTurn(name: string, work: () => Promise<void>): Promise<void> {
    const turn = (writes.get(name) ?? Promise.resolve()).catch(() => undefined).then(work);
    writes.set(name, turn);
    const cleanUp = (): void => {
      if (writes.get(name) === turn) writes.delete(name);
    };
    turn.then(cleanUp, cleanUp);
    return turn;
  }

  async function write(name: string): Promise<void> {
    const wanted = held.get(name);
    if (wanted === undefined) return;
    for (;;) {
      const version = versions.get(name);
      const secret = assignmentSecret(wanted, version);
      try {
        const written =
          version === undefined
            ? await rest.create(secrets, secret)
            : await rest.replace(secrets, secret);
        versions.set(name, written.metadata.resourceVersion ?? "");
        if (held.get(name) === wanted) unstored.delete(name);
        return;
      } catch (thrown) {
        // Somebody touched the Secret: this process alone decides what is in it.
        const isGone = version !== undefined && isNotFound(thrown);
        if (!isGone && !isAlreadyExists(thrown) && !isConflict(thrown)) throw thrown;
        const current = await rest.get(secrets, {
          namespace: agentNamespace,
          name: secret.metadata.name,
        });
        if (current?.metadata.resourceVersion === undefined) versions.delete(name);
        else versions.set(name, current.metadata.resourceVersion);
      }
    }
  }

  return {
    async load() {
      let next: string | undefined;
      do {
        const page = await rest.list(secrets, {
          namespace: agentNamespace,
          labelSelector: assignmentSelector,
          limit: 100,
          ...(next !== undefined && { next }),
        });
        for (const secret of page.items) {
          const assignment = heldAssignment(secret);
          if (assignment === undefined) {
            log.warn(
              { secret: secret.metadata.name },
              "stored assignment is not readable and is left alone",
            );
            continue;
          }
          held.set(assignment.owner.name, assignment);
          versions.set(assignment.owner.name, secret.metadata.resourceVersion ?? "");
        }
        next = page.next;
      } while (next !== undefined);
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
      if (bytes.length > contentLimit) {
        throw new AppError(
          contentErrors.CONTENT_TOO_LARGE,
          `the content of ${deployment.name} takes ${bytes.length} bytes packed, more than the ${contentLimit} that an agent keeps`,
        );
      }
      if (
        current?.owner.uid === deployment.uid &&
        current.deploymentId === deploymentId &&
        current.paused === paused &&
        !current.withdrawing
      ) {
        if (unstored.has(deployment.name)) await store(deployment.name);
        return;
      }
      held.set(deployment.name, {
        owner: deployment,
        deploymentId,
        content: bytes,
        paused,
        withdrawing: false,
      });
      changed(deployment.name);
      await store(deployment.name);
    },
    async withdraw(deployment) {
      const current = held.get(deployment.name);
      if (current === undefined || current.owner.uid !== deployment.uid) return false;
      if (!current.withdrawing) {
        held.set(deployment.name, { ...current, withdrawing: true });
        changed(deployment.name);
        await store(deployment.name);
      } else if (unstored.has(deployment.name)) await store(deployment.name);
      return true;
    },
    async remove(deployment) {
      const current = held.get(deployment.name);
      if (current === undefined || current.owner.uid !== deployment.uid || !current.withdrawing)
        return;
      await inTurn(deployment.name, async () => {
        if (held.get(deployment.name) !== current) return;
        await rest.delete(secrets, assignmentSecret(current, undefined).metadata);
        versions.delete(deployment.name);
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
