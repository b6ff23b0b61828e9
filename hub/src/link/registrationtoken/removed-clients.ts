/**
 * The clients of a token whose Cluster was deleted: they cannot enrol with it again. Recorded by the Cluster controller before
 * the cluster namespace is deleted.
 */
import {
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  maxRemovedClients,
} from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { isConflict, isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import { type RemovedClient, tokenUidIndex } from "../../base/index.ts";

export interface RemovedClientsDeps {
  readonly rest: KubeRest;
  readonly tokens: Store<ClusterRegistrationToken>;
}

/** `undefined` when it is recorded already. Pure. */
export function withRemovedClient(
  { status }: ClusterRegistrationToken,
  client: string,
): readonly string[] | undefined {
  const known = status?.removedClients ?? [];
  return known.includes(client) ? undefined : [...known, client].slice(-maxRemovedClients);
}

/** Resolves once it is recorded, or the token is deleted. */
export async function recordRemovedClient(
  { rest, tokens }: RemovedClientsDeps,
  removed: RemovedClient,
  signal: AbortSignal,
): Promise<void> {
  const [known] = tokens.byIndex(tokenUidIndex, removed.token);
  for (let token = known; token !== undefined; ) {
    const removedClients = withRemovedClient(token, removed.client);
    if (removedClients === undefined) return;
    try {
      const next = { ...token, status: { ...token.status, removedClients: [...removedClients] } };
      const options = { subresource: "status", signal } as const;
      tokens.wrote(await rest.replace(clusterRegistrationTokens, next, options));
      return;
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      if (!isConflict(thrown)) throw thrown;
    }
    // Other fields have other writers: read the newest.
    const current = await rest.get(clusterRegistrationTokens, token.metadata, { signal });
    token = current?.metadata.uid === removed.token ? current : undefined;
  }
}
