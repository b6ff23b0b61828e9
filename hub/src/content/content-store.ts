/**
 * Contents on the hub: written once by the leader, read by every replica that hands them out.
 *
 * A content that no BundleDeployment refers to any more is collected after a grace (collect.ts), not at once, so that one
 * that is about to be referred to again (a rollback, a Bundle that was paused) is still there.
 */
import { createSingleFlight } from "@flotilla/shared/concurrency/single-flight.ts";
import type { PackedContent } from "@flotilla/shared/content/content.ts";
import { partCount } from "@flotilla/shared/content/packed.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/client/status-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { hubErrors } from "../errors/hub-errors.ts";
import { contentSecretName, contentSecrets, partBytesOf, partsOf } from "./content-secret.ts";

/** Hands out the packed bytes of a content. Throws CONTENT_MISSING. */
export interface ContentReader {
  read(deploymentId: string): Promise<Uint8Array>;
}

export interface ContentStore extends ContentReader {
  /** Resolves once the content is stored. Costs nothing where it is already. */
  ensure(content: PackedContent): Promise<void>;
  /** Forgets one that was collected. */
  forget(deploymentId: string): void;
  /** When the content was last wanted by this process, monotonic ms. */
  lastUsed(deploymentId: string): number | undefined;
}

export interface ContentStoreDeps {
  readonly rest: KubeRest;
  /** The contents' Secrets, without their data. */
  readonly stored: Store<Secret>;
  /** Of the Secrets. */
  readonly namespace: string;
  readonly clock: Clock;
}

/** Bytes of contents that are kept in memory, so that a rollout to a thousand clusters reads each once. */
const cacheBytes = 32 * 1024 * 1024;

export function createContentStore(deps: ContentStoreDeps): ContentStore {
  const { rest, stored, namespace, clock } = deps;
  /** The bytes of those wanted last; the one wanted longest ago comes first. */
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
    // Asked of what the API server has, not of our own memory: another leader may have collected it.
    // Of every part: the first may outlive another while they are collected.
    if (isStored(content)) return;
    for (const secret of contentSecrets(content, namespace).toReversed()) {
      try {
        stored.wrote(await rest.create(secrets, secret));
      } catch (thrown) {
        // Named by its digest and immutable: one that is there is this one.
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
        `content ${deploymentId} cannot be handed out: there is no Secret ${namespace}/${name}`,
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
