/** Assignments in the Secrets of the agent's cluster: read at the start, written as they come. */
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/client/status-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { createOwnSecrets } from "../storage/own-secrets.ts";
import {
  assignmentName,
  assignmentSecret,
  assignmentSelector,
  type HeldAssignment,
  heldAssignment,
  partNamesOf,
  partSecrets,
  partSelector,
} from "./assignment-secret.ts";

/** Calls about one name are made one after the other. */
export interface AssignmentStorage {
  /** Everything that is stored and can be read. Sweeps what an earlier agent left half done. */
  load(): Promise<readonly HeldAssignment[]>;
  /** In place of what is stored under its name. */
  store(held: HeldAssignment): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface AssignmentStorageDeps {
  readonly rest: KubeRest;
  readonly log: Log;
}

export function createAssignmentStorage({ rest, log }: AssignmentStorageDeps): AssignmentStorage {
  const own = createOwnSecrets(rest);
  /** The names of the Secrets beside the first, by deployment. */
  const parts = new Map<string, readonly string[]>();

  async function writeParts(wanted: readonly Secret[]): Promise<void> {
    for (const part of wanted) {
      try {
        await rest.create(secrets, part);
      } catch (thrown) {
        // Named by what is in it: one that is there is this one.
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    }
  }

  /** Where that fails the next start of an agent does it. */
  async function sweep(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await rest
        .delete(secrets, { namespace: agentNamespace, name })
        .catch((thrown: unknown) =>
          log.warn({ secret: name, err: messageOf(thrown) }, "old part of a content stays for now"),
        );
    }
  }

  return {
    async load() {
      const held: HeldAssignment[] = [];
      const firsts = await own.list(assignmentSelector);
      const others = new Map(
        (await own.list(partSelector)).map((part) => [part.metadata.name, part]),
      );
      const used = new Set<string>();
      for (const first of firsts) {
        const names = partNamesOf(first);
        for (const name of names) used.add(name);
        const assignment = heldAssignment(first, (name) => others.get(name));
        if (assignment === undefined) {
          log.warn(
            { secret: first.metadata.name },
            "stored assignment is not readable and is left alone",
          );
          continue;
        }
        held.push(assignment);
        parts.set(assignment.owner.name, names);
      }
      await sweep([...others.keys()].filter((name) => !used.has(name)));
      return held;
    },
    async store(held) {
      const { name } = held.owner;
      const wanted = partSecrets(held);
      const names = wanted.map(({ metadata }) => metadata.name);
      const old = parts.get(name) ?? [];
      if (names.some((part) => !old.includes(part))) await writeParts(wanted);
      await own.write(assignmentSecret(held));
      parts.set(name, names);
      await sweep(old.filter((part) => !names.includes(part)));
    },
    async remove(name) {
      await own.remove(assignmentName(name));
      await sweep(parts.get(name) ?? []);
      parts.delete(name);
    },
  };
}
