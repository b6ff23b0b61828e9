/**
 * Contents on the hub: written once by the leader, read by every replica that hands them out.
 *
 * A content that no BundleDeployment refers to any more is collected after a grace, not at once, so that one that is
 * about to be referred to again (a rollback, a Bundle that was paused) is still there.
 */

import type { Clock } from "@flotilla/shared/clock/clock.ts";
import type { PackedContent } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/status-error.ts";
import { hubErrors } from "../errors.ts";
import { contentSecretName, contentSecrets, partBytesOf, partsOf } from "./content-secret.ts";

/** Hands out the packed bytes of a content. Throws CONTENT_MISSING. */
export interface ContentReader {
  read(deploymentId: string): Promise<Uint8Array>;
}

export interface ContentStore extends ContentReader {
  /** Resolves once the content is stored. Cheap for one that this process stored or read before. */
  ensure(content: PackedContent): Promise<void>;
  /** Forgets one that was collected, so that `ensure` stores it again. */
  forget(deploymentId: string): void;
  /** When the content was last wanted by this process, monotonic ms. */
  lastUsed(deploymentId: string): number | undefined;
}

/** Bytes of contents that are kept in memory, so that a rollout to a thousand clusters reads each once. */
const cacheBytes = 32 * 1024 * 1024;

export interface ContentStoreDeps {
  readonly rest: KubeRest;
  /** Of the Secrets. */
  readonly namespace: string;
  readonly clock: Clock;
}

export function createContentStore(deps: ContentStoreDeps): ContentStore {
  const { rest, namespace, clock } = deps;
  const used = new Map<string, number>();
  const cache = new Map<string, Uint8Array>();
  const pending = new Map<string, Promise<Uint8Array>>();
  let cachedBytes = 0;

  function remember(deploymentId: string, bytes: Uint8Array): void {
    drop(deploymentId);
    cache.set(deploymentId, bytes);
    cachedBytes += bytes.length;
    for (const [oldest, old] of cache) {
      if (cachedBytes <= cacheBytes || oldest === deploymentId) break;
      cachedBytes -= old.length;
      cache.delete(oldest);
    }
  }

  function drop(deploymentId: string): void {
    cachedBytes -= cache.get(deploymentId)?.length ?? 0;
    cache.delete(deploymentId);
  }

  function once(deploymentId: string, work: () => Promise<Uint8Array>): Promise<Uint8Array> {
    used.set(deploymentId, clock.monotonic());
    const cached = cache.get(deploymentId);
    if (cached !== undefined) {
      remember(deploymentId, cached);
      return Promise.resolve(cached);
    }
    const running = pending.get(deploymentId);
    if (running !== undefined) return running;
    const started = work()
      .then((bytes) => {
        remember(deploymentId, bytes);
        return bytes;
      })
      .finally(() => pending.delete(deploymentId));
    pending.set(deploymentId, started);
    return started;
  }

  async function store(content: PackedContent): Promise<Uint8Array> {
    for (const secret of contentSecrets(content, namespace).toReversed()) {
      try {
        await rest.create(secrets, secret);
      } catch (thrown) {
        // Named by its digest and immutable: one that is there is this one.
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    }
    return content.bytes;
  }

  async function fetch(deploymentId: string): Promise<Uint8Array> {
    const first = await part(deploymentId, 0);
    const others = await Promise.all(
      Array.from({ length: partsOf(first) - 1 }, (_, index) => part(deploymentId, index + 1)),
    );
    return Buffer.concat([first, ...others].map(partBytesOf));
  }

  async function part(deploymentId: string, index: number): Promise<Secret> {
    const name = contentSecretName(deploymentId, index);
    const secret = await rest.get(secrets, { namespace, name });
    if (secret === undefined) {
      throw new AppError(
        hubErrors.CONTENT_MISSING,
        `content ${deploymentId} cannot be handed out: there is no Secret ${namespace}/${name}`,
      );
    }
    return secret;
  }

  return {
    ensure: async (content) => {
      await once(content.deploymentId, () => store(content));
    },
    read: (deploymentId) => once(deploymentId, () => fetch(deploymentId)),
    forget: (deploymentId) => {
      drop(deploymentId);
      used.delete(deploymentId);
    },
    lastUsed: (deploymentId) => used.get(deploymentId),
  };
}
