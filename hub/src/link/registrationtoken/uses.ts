/** Counts the Clusters that enrolled with each token. The first use is written at once, further ones about once a second. */
import {
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
} from "@flotilla/shared/api";
import { registrationTokenAnnotation } from "@flotilla/shared/api/names";
import type { Change, Informer, Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createPublisher, enrolledWithIndex, tokenUidIndex } from "../../base/index.ts";

export interface TokenUsesDeps {
  readonly rest: KubeRest;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly tokens: Store<ClusterRegistrationToken>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface TokenUses {
  /** Resolves when no write is in flight. */
  stop(): Promise<void>;
}

/** Counts until it is stopped, existing Clusters included. */
export function countTokenUses({ clusters, tokens, ...deps }: TokenUsesDeps): TokenUses {
  const writer = createPublisher({
    ...deps,
    resource: clusterRegistrationTokens,
    store: tokens,
    rollUp: (token) => {
      const uses = clusters.store.byIndex(enrolledWithIndex, token.metadata.uid ?? "").length;
      // An unused token needs no count.
      return uses === (token.status?.uses ?? 0) ? undefined : { ...token.status, uses };
    },
    isUrgent: (before, after) => ((before?.uses ?? 0) === 0) !== (after.uses === 0),
  });
  const stopListening = clusters.onChange((change) => {
    for (const uid of affectedTokens(change))
      for (const token of tokens.byIndex(tokenUidIndex, uid)) writer.refresh(keyOf(token));
  });
  for (const token of tokens.list()) writer.refresh(keyOf(token));

  return {
    stop() {
      stopListening();
      return writer.flush();
    },
  };
}

/** UIDs of the tokens whose count changes. Pure. */
export function affectedTokens({ before, after }: Change<Cluster>): readonly string[] {
  const [was, is] = [before, after].map(
    (cluster) => cluster?.metadata.annotations?.[registrationTokenAnnotation],
  );
  return was === is ? [] : [was, is].filter((uid) => uid !== undefined);
}
