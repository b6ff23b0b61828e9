/** The controller that deletes contents which nothing refers to: what it watches, and how a change maps to keys. */

import {
  type Controller,
  createController,
  isExistenceChange,
  ownKey,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import {
  byDigest,
  type ControllerDeps,
  contentsPinnedBy,
  contentsReferredBy,
} from "../../base/index.ts";
import type { ContentStore } from "../../rules/index.ts";
import { collectReconciler } from "./reconcile.ts";

/** How long a content is kept after the last reference to it. */
const contentGraceMs = 5 * 60_000;

export function createContentController(
  deps: ControllerDeps & { readonly contents: ContentStore },
): Controller {
  const { contents, deployments, rollouts } = deps.caches;
  const keysOf = (digests: readonly string[]) =>
    digests.flatMap((digest) => contents.store.byIndex(byDigest, digest).map(keyOf));
  return createController({
    name: "content",
    workers: 4,
    reconcile: collectReconciler({
      ...deps,
      contentSecrets: contents.store,
      deployments: deployments.store,
      rollouts: rollouts.store,
      graceMs: contentGraceMs,
    }),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(contents, { predicate: isExistenceChange, toKeys: ownKey }),
      // What a deployment referred to before it changed.
      watch(deployments, {
        predicate: ({ before }) => before !== undefined,
        toKeys: ({ before }) => keysOf(before === undefined ? [] : contentsReferredBy(before)),
        replay: false,
      }),
      watch(rollouts, {
        predicate: ({ before, after }) =>
          before !== undefined && (after === undefined || contentsPinnedBy(after).length === 0),
        toKeys: ({ before }) => keysOf(before === undefined ? [] : contentsPinnedBy(before)),
        replay: false,
      }),
    ],
  });
}
