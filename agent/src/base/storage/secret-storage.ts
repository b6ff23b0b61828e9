/** Secrets of the agent's namespace that only this process writes: changes by others are overwritten. */
import { agentNamespace } from "@flotilla/shared/api/names";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";

/** Calls for one name must not overlap. */
export interface SecretStorage {
  /** All that match the selector; `write` then replaces the listed version. */
  list(labelSelector: string): Promise<readonly Secret[]>;
  /** Creates or replaces the Secret of this name. */
  write(secret: Secret): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The page size of a list request; a Secret may be as large as a megabyte. */
const pageSize = 50;

export function createSecretStorage(rest: KubeRest): SecretStorage {
  const versions = new Map<string, string>();

  function remember({ metadata }: Secret): void {
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
      for (const secret of found) remember(secret);
      return found;
    },
    async write(secret) {
      const { name } = secret.metadata;
      for (;;) {
        const resourceVersion = versions.get(name);
        try {
          remember(
            resourceVersion === undefined
              ? await rest.create(secrets, secret)
              : await rest.replace(secrets, {
                  ...secret,
                  metadata: { ...secret.metadata, resourceVersion },
                }),
          );
          return;
        } catch (thrown) {
          const isDeleted = resourceVersion !== undefined && isNotFound(thrown);
          if (!isDeleted && !isAlreadyExists(thrown) && !isConflict(thrown)) throw thrown;
          const current = await rest.get(secrets, { namespace: agentNamespace, name });
          if (current === undefined) versions.delete(name);
          else remember(current);
        }
      }
    },
    async remove(name) {
      await rest.delete(secrets, { namespace: agentNamespace, name });
      versions.delete(name);
    },
  };
}
