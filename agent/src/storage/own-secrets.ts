/** Secrets of the agent's namespace that this process alone decides about: whatever somebody else made of them is overwritten. */
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "@flotilla/shared/kube/client/status-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";

/** Calls about one name are made one after the other. */
export interface OwnSecrets {
  /** All that carry a label; what is written later takes the place of what was listed. */
  list(labelSelector: string): Promise<readonly Secret[]>;
  /** In place of what is there under its name. */
  write(secret: Secret): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Of one answer; a Secret may be as large as a megabyte. */
const pageSize = 50;

export function createOwnSecrets(rest: KubeRest): OwnSecrets {
  const versions = new Map<string, string>();

  function note({ metadata }: Secret): void {
    versions.set(metadata.name, metadata.resourceVersion ?? "");
  }

  return {
    async list(labelSelector) {
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
      for (const secret of found) note(secret);
      return found;
    },
    async write(secret) {
      const { name } = secret.metadata;
      for (;;) {
        const resourceVersion = versions.get(name);
        try {
          note(
            resourceVersion === undefined
              ? await rest.create(secrets, secret)
              : await rest.replace(secrets, {
                  ...secret,
                  metadata: { ...secret.metadata, resourceVersion },
                }),
          );
          return;
        } catch (thrown) {
          const isGone = resourceVersion !== undefined && isNotFound(thrown);
          if (!isGone && !isAlreadyExists(thrown) && !isConflict(thrown)) throw thrown;
          const current = await rest.get(secrets, { namespace: agentNamespace, name });
          if (current === undefined) versions.delete(name);
          else note(current);
        }
      }
    },
    async remove(name) {
      await rest.delete(secrets, { namespace: agentNamespace, name });
      versions.delete(name);
    },
  };
}
