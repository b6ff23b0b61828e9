/**
 * Tells when two agents seem to use copies of one identity, whichever replicas they connect to.
 *
 * Every replica sees the epochs of all clusters rise, and of its own streams which ended only because a newer one came.
 * A connection that is cut now and then has the epochs rise; a cable that is pulled and put back replaces a stream that
 * seemed alive; two agents with one key do both without end.
 */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { Change } from "@flotilla/shared/kube/cache/store.ts";
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { createRateLimit } from "../serve/rate-limit.ts";

export interface TwoAgents {
  /** A Cluster has changed: whoever connected did so while another connection was not known to have ended. */
  clusterChanged(change: Change<Cluster>): void;
  /** A stream of this replica was alive, and a newer one took its place. Whether somebody is to be told of it now. */
  replaced(key: ObjectKey): boolean;
}

export function createTwoAgents(clock: Clock): TwoAgents {
  const rises = createRateLimit({ clock, perSecond: 1 / 20, burst: 4 });
  const replacements = createRateLimit({ clock, perSecond: 1 / 300, burst: 1 });
  const warnings = createRateLimit({ clock, perSecond: 1 / 300, burst: 1 });
  return {
    clusterChanged(change) {
      if (isRise(change)) rises.take(change.key);
    },
    replaced(key) {
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
