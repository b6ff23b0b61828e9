/**
 * Detects two agents that use copies of one identity, whichever replicas they connect to. Every replica sees the epochs
 * of all clusters rise, and which of its own streams were replaced while they seemed connected. A connection that is
 * cut now and then only raises epochs; a network that fails for a while only replaces an open stream; two agents with
 * one key keep doing both.
 */

import type { Cluster } from "@flotilla/shared/api";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import type { Change } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";

export function createDuplicateAgents(clock: Clock) {
  const rises = createKeyedRateLimiter({ clock, perSecond: 1 / 20, burst: 4 });
  const replacements = createKeyedRateLimiter({ clock, perSecond: 1 / 300, burst: 1 });
  const warnings = createKeyedRateLimiter({ clock, perSecond: 1 / 300, burst: 1 });
  return {
    /** Observes connections of any replica that started while an earlier one was still recorded as connected. */
    clusterChanged(change: Change<Cluster>): void {
      if (isRise(change)) rises.take(change.key);
    },
    /** A newer stream replaced an open one of this replica. True when a duplicate is to be reported now. */
    replaced(key: ObjectKey): boolean {
      const isFirst = replacements.take(key);
      return !isFirst && !rises.has(key) && warnings.take(key);
    },
  };
}

function isRise({ before, after }: Change<Cluster>): boolean {
  const [was, is] = [before?.status?.agent, after?.status?.agent];
  return (
    before?.metadata.uid === after?.metadata.uid &&
    was?.connected === true &&
    is?.connected === true &&
    (is.epoch ?? 0) > (was.epoch ?? 0)
  );
}
