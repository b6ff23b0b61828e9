/** Assignments in the Secrets of the agent's cluster: read at the start, written as they come. */
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists, isConflict, isNotFound } from "@flotilla/shared/kube/status-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
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

/** Of one answer; a Secret may be as large as a megabyte. */
const pageSize = 50;

export function createAssignmentStorage({ rest, log }: AssignmentStorageDeps): AssignmentStorage {
  const versions = new Map<string, string>();
  /** The names of the Secrets beside the first, by deployment. */
  const parts = new Map<string, readonly string[]>();

  async function list(labelSelector: string): Promise<readonly Secret[]> {
    const found: Secret[] = [];
    let next: string | undefined;
    do {
      const page = await rest.list(secrets, {
        namespace: agentNamespace,
        labelSelector,
        limit: pageSize,
        ...(next !== undefined && { next }),
      });
      found.push(...page.items);
      next = page.next;
    } while (next !== undefined);
    return found;
  }

  async function writeFirst(held: HeldAssignment): Promise<void> {
    const { name } = held.owner;
    for (;;) {
      const version = versions.get(name);
      const secret = assignmentSecret(held, version);
      try {
        const written =
          version === undefined
            ? await rest.create(secrets, secret)
            : await rest.replace(secrets, secret);
        versions.set(name, written.metadata.resourceVersion ?? "");
        return;
      } catch (thrown) {
        // Somebody touched the Secret: this process alone decides what is in it.
        const isGone = version !== undefined && isNotFound(thrown);
        if (!isGone && !isAlreadyExists(thrown) && !isConflict(thrown)) throw thrown;
        const ref = { namespace: agentNamespace, name: secret.metadata.name };
        const current = await rest.get(secrets, ref);
        if (current?.metadata.resourceVersion === undefined) versions.delete(name);
        else versions.set(name, current.metadata.resourceVersion);
      }
    }
  }

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
      const firsts = await list(assignmentSelector);
      const others = new Map((await list(partSelector)).map((part) => [part.metadata.name, part]));
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
        versions.set(assignment.owner.name, first.metadata.resourceVersion ?? "");
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
      await writeFirst(held);
      parts.set(name, names);
      await sweep(old.filter((part) => !names.includes(part)));
    },
    async remove(name) {
      await rest.delete(secrets, { namespace: agentNamespace, name: assignmentName(name) });
      versions.delete(name);
      await sweep(parts.get(name) ?? []);
      parts.delete(name);
    },
  };
}
