/** What of a change matters to whom. Pure. */

import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { Change } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import { chartNotFetched } from "../summary/deployment-state.ts";

/** Whether more than the status changed: it is new, gone, on its way out, or its spec, labels or annotations differ. */
export function isIntentChange({ before, after }: Change<KubeObject>): boolean {
  if (before === undefined || after === undefined) return true;
  const [a, b] = [before.metadata, after.metadata];
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    !isDeepStrictEqual(a.labels, b.labels) ||
    !isDeepStrictEqual(a.annotations, b.annotations)
  );
}

/** Whether Bundles may go to a cluster now that did not, or the other way round. */
export function isTargetingChange({ before, after }: Change<Cluster>): boolean {
  return (
    isIntentChange({
      key: "",
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    }) || before?.status?.namespace !== after?.status?.namespace
  );
}

/** Whether an agent tells anew that it could not fetch the chart as it was pinned. */
export function isFetchFailure({ before, after }: Change<BundleDeployment>): boolean {
  const [earlier, now] = [before, after].map((deployment) =>
    findCondition(deployment?.status?.conditions, "Deployed"),
  );
  return now?.reason === chartNotFetched && now.message !== earlier?.message;
}

/** Whether an agent could not fetch the chart as it was pinned, and no longer says so. */
export function isFetchMended({ before, after }: Change<BundleDeployment>): boolean {
  const [failed, fails] = [before, after].map(
    (deployment) =>
      findCondition(deployment?.status?.conditions, "Deployed")?.reason === chartNotFetched,
  );
  return failed === true && fails === false;
}

/** Whether the agent of a cluster came, went, or is another one. */
export function isPresenceChange({ before, after }: Change<Cluster>): boolean {
  return !isDeepStrictEqual(before?.status?.agent, after?.status?.agent);
}

/** Whether what a Bundle's charts came to is kept now, and was not. */
export function isPinChange({ before, after }: Change<Bundle>): boolean {
  return !isDeepStrictEqual(before?.status?.pins, after?.status?.pins);
}
