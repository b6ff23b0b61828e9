/**
 * What a token remembers of clusters that enrolled with it and were removed: they do not come back with it. Written by the
 * loop of Clusters, before what is left of a removed one goes.
 */
import { createHash } from "node:crypto";
import {
  type ClusterRegistrationToken,
  maxRemovedClients,
} from "@flotilla/shared/api/cluster-registration-token.ts";
import { clusterRegistrationTokens } from "@flotilla/shared/api/resources.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict, isNotFound } from "@flotilla/shared/kube/client/status-error.ts";
import { tokenUidIndex } from "../enroll/indexes.ts";

export interface RemovedClient {
  /** UID of the token that it enrolled with last. */
  readonly token: string;
  /** Of its client id (`clientDigest`). */
  readonly client: string;
}

export interface RemovedClientsDeps {
  readonly rest: KubeRest;
  readonly tokens: Store<ClusterRegistrationToken>;
}

const digestLength = 16;

/** What a client id is remembered by: it may be long, and it is nobody's who only sees a token. */
export function clientDigest(clientId: string): string {
  return createHash("sha256").update(clientId).digest("hex").slice(0, digestLength);
}

/** Nothing to write where it is remembered already. Pure. */
export function withRemoved(
  { status }: ClusterRegistrationToken,
  client: string,
): readonly string[] | undefined {
  const known = status?.removedClients ?? [];
  return known.includes(client) ? undefined : [...known, client].slice(-maxRemovedClients);
}

/** Resolves once the token has it, or is gone itself. */
export async function rememberRemoved(
  { rest, tokens }: RemovedClientsDeps,
  removed: RemovedClient,
  signal: AbortSignal,
): Promise<void> {
  const [known] = tokens.byIndex(tokenUidIndex, removed.token);
  for (let token = known; token !== undefined; ) {
    const removedClients = withRemoved(token, removed.client);
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
    // Its other fields are written by others: the newest has them.
    const current = await rest.get(clusterRegistrationTokens, token.metadata, { signal });
    token = current?.metadata.uid === removed.token ? current : undefined;
  }
}
