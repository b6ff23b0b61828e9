/** Reads and writes assignments in Secrets of the agent's cluster. */
import { agentNamespace } from "@flotilla/shared/api/names";
import { messageOf } from "@flotilla/shared/errors";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { createSecretStorage } from "../../base/index.ts";
import {
  type Assignment,
  assignmentName,
  assignmentSecret,
  assignmentSelector,
  parseAssignment,
  partNamesOf,
  partSecrets,
  partSelector,
} from "./assignment-secret.ts";

/** Calls for one name must not overlap. */
export interface AssignmentStorage {
  /** All stored assignments that can be read. Deletes parts of interrupted writes. */
  load(): Promise<readonly Assignment[]>;
  /** Replaces what is stored under its name. */
  store(assignment: Assignment): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface AssignmentStorageDeps {
  readonly rest: KubeRest;
  readonly log: Log;
}

export function createAssignmentStorage({ rest, log }: AssignmentStorageDeps): AssignmentStorage {
  const storage = createSecretStorage(rest);
  /** The names of the Secrets that continue the first one, by deployment. */
  const parts = new Map<string, readonly string[]>();

  async function writeParts(desired: readonly Secret[]): Promise<void> {
    for (const part of desired) {
      try {
        await rest.create(secrets, part);
      } catch (thrown) {
        // It is named by its content, so the existing one is the same.
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    }
  }

  /** A failure is retried by `load` on the next start. */
  async function deleteParts(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await rest
        .delete(secrets, { namespace: agentNamespace, name })
        .catch((thrown: unknown) =>
          log.warn(
            { secret: name, err: messageOf(thrown) },
            "could not delete an old part of a content, retrying on the next start",
          ),
        );
    }
  }

  return {
    async load() {
      const found: Assignment[] = [];
      const firsts = await storage.list(assignmentSelector);
      const others = new Map(
        (await storage.list(partSelector)).map((part) => [part.metadata.name, part]),
      );
      const used = new Set<string>();
      for (const first of firsts) {
        const names = partNamesOf(first);
        for (const name of names) used.add(name);
        const assignment = parseAssignment(first, (name) => others.get(name));
        if (assignment === undefined) {
          log.warn(
            { secret: first.metadata.name },
            "stored assignment is not readable, ignoring it",
          );
          continue;
        }
        found.push(assignment);
        parts.set(assignment.owner.name, names);
      }
      await deleteParts([...others.keys()].filter((name) => !used.has(name)));
      return found;
    },
    async store(assignment) {
      const { name } = assignment.owner;
      const desired = partSecrets(assignment);
      const names = desired.map(({ metadata }) => metadata.name);
      const old = parts.get(name) ?? [];
      if (names.some((part) => !old.includes(part))) await writeParts(desired);
      await storage.write(assignmentSecret(assignment));
      parts.set(name, names);
      await deleteParts(old.filter((part) => !names.includes(part)));
    },
    async remove(name) {
      await storage.remove(assignmentName(name));
      await deleteParts(parts.get(name) ?? []);
      parts.delete(name);
    },
  };
}
