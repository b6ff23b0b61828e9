/**
 * Contents on the hub: written once by the leader, read by every replica that hands them out.
 *
 * A content that no BundleDeployment refers to any more is collected after a grace (collect.ts), not at once, so that one
 * that is about to be referred to again (a rollback, a Bundle that was paused) is still there.
 */
import { createSingleFlight } from "@flotilla/shared/concurrency";
import { type PackedContent, partCount } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { contentSecretName, contentSecrets, partBytesOf, partsOf } from "./content-secret.ts";

/** Reads the packed bytes of a content. Throws CONTENT_MISSING. */
export interface ContentReader {
  read(deploymentId: string): Promise<Uint8Array>;
}

export interface ContentStore extends ContentReader {
  /** Resolves once the content is stored. Costs nothing where it is already. */
  ensure(content: PackedContent): Promise<void>;
  /** Forgets one that was collected. */
  forget(deploymentId: string): void;
  /** When this process used the content last, monotonic ms. */
  lastUsed(deploymentId: string): number | undefined;
}

export interface ContentStoreDeps {
  readonly rest: KubeRest;
  /** The contents' Secrets, without their data. */
  readonly stored: Store<Secret>;
  /** The namespace of the Secrets. */
  readonly namespace: string;
  readonly clock: Clock;
}

/** Bytes of contents that are kept in memory, so that a rollout to a thousand clusters reads each once. */
const cacheBytes = 32 * 1024 * 1024;

export function createContentStore(deps: ContentStoreDeps): ContentStore {
  const { rest, stored, namespace, clock } = deps;
  /** The bytes of the contents used last; the least recently used comes first. */
  const cache = new Map<string, Uint8Array>();
  const used = new Map<string, number>();
  const storing = createSingleFlight<void>();
  const fetching = createSingleFlight<Uint8Array>();
  let cachedBytes = 0;

  function remember(deploymentId: string, bytes: Uint8Array): void {
    drop(deploymentId);
    cache.set(deploymentId, bytes);
    cachedBytes += bytes.length;
    for (const oldest of cache.keys()) {
      if (cachedBytes <= cacheBytes || oldest === deploymentId) break;
      drop(oldest);
    }
  }

  function drop(deploymentId: string): void {
    cachedBytes -= cache.get(deploymentId)?.length ?? 0;
    cache.delete(deploymentId);
  }

  async function store(content: PackedContent): Promise<void> {
    // Reads the API server, not our own cache: another leader may have collected it. Reads every part: the first may
    // outlive another while they are collected.
    if (isStored(content)) return;
    for (const secret of contentSecrets(content, namespace).toReversed()) {
      try {
        stored.wrote(await rest.create(secrets, secret));
      } catch (thrown) {
        // Named by its digest and immutable: an existing one has this content.
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    }
  }

  function isStored(content: PackedContent): boolean {
    return Array.from({ length: partCount(content.bytes) }, (_, part) =>
      keyOf({ namespace, name: contentSecretName(content.deploymentId, part) }),
    ).every((key) => stored.get(key) !== undefined);
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
        `content ${deploymentId} cannot be delivered: there is no Secret ${namespace}/${name}`,
      );
    }
    return secret;
  }

  return {
    async ensure(content) {
      used.set(content.deploymentId, clock.monotonic());
      await storing.run(content.deploymentId, () => store(content));
      remember(content.deploymentId, content.bytes);
    },
    async read(deploymentId) {
      used.set(deploymentId, clock.monotonic());
      const bytes =
        cache.get(deploymentId) ?? (await fetching.run(deploymentId, () => fetch(deploymentId)));
      remember(deploymentId, bytes);
      return bytes;
    },
    forget(deploymentId) {
      drop(deploymentId);
      used.delete(deploymentId);
    },
    lastUsed: (deploymentId) => used.get(deploymentId),
  };
}
