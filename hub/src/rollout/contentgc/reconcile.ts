/** Collects contents that no BundleDeployment has referred to for some minutes, and no staged rollout may still give to one. */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { done, type Reconcile, requeueAfter } from "@flotilla/shared/kube/controller";
import { type ObjectKey, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { byContent, byPinnedContent, contentDigestOf } from "../../base/index.ts";
import type { ContentStore } from "../../rules/index.ts";

export interface CollectDeps {
  readonly rest: KubeRest;
  /** Without their data. */
  readonly contentSecrets: Store<Secret>;
  readonly deployments: Store<BundleDeployment>;
  readonly rollouts: Store<BundleRollout>;
  readonly contents: ContentStore;
  readonly clock: Clock;
  /** How long a content stays after the last that named it. */
  readonly graceMs: number;
}

export function collectReconciler(deps: CollectDeps): Reconcile {
  /** Since when no deployment references a content, monotonic ms. */
  const unnamedSince = new Map<ObjectKey, number>();

  return async function reconcile(key, { signal }) {
    const secret = deps.contentSecrets.get(key);
    const digest = secret === undefined ? undefined : contentDigestOf(secret);
    if (secret === undefined || digest === undefined || isNeeded(digest)) {
      unnamedSince.delete(key);
      return done();
    }
    const now = deps.clock.monotonic();
    const since = Math.max(unnamedSince.get(key) ?? now, deps.contents.lastUsed(digest) ?? 0);
    unnamedSince.set(key, since);
    const remainingMs = since + deps.graceMs - now;
    if (remainingMs > 0)
      return requeueAfter(remainingMs, "collected when it was unreferenced for a while");

    deps.contents.forget(digest);
    const { uid, resourceVersion } = secret.metadata;
    await deps.rest.delete(secrets, secret.metadata, {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      signal,
    });
    return done();
  };

  function isNeeded(digest: string): boolean {
    return (
      deps.deployments.byIndex(byContent, digest).length > 0 ||
      deps.rollouts.byIndex(byPinnedContent, digest).length > 0
    );
  }
}
