/**
 * Reads the Secrets and ConfigMaps that a HelmRelease is installed with again in its interval, and when a reconcile is requested. On every
 * replica, because each sends them to its own agents. Objects in namespaces that are watched are up to date without.
 */

import { type Bundle, type BundleOrigin, type ObjectRef, placeOnHub } from "@flotilla/shared/api";
import { requestTokens } from "@flotilla/shared/api/names";
import { messageOf } from "@flotilla/shared/errors";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { Informer, Store } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  done,
  isSpecChange,
  ownKey,
  requeueAfter,
  watch,
} from "@flotilla/shared/kube/controller";
import { parseGoDuration } from "@flotilla/shared/time";
import type { ControllerDeps } from "../../base/index.ts";
import type { WorkspaceObjects } from "../../rules/index.ts";
import { bundleKeyFor } from "./plan.ts";

export interface ObjectRefreshDeps extends Pick<ControllerDeps, "clock" | "log" | "metrics"> {
  readonly helmReleases: Pick<Informer<HelmRelease>, "store" | "onChange">;
  readonly bundles: Pick<Store<Bundle>, "get">;
  readonly objects: Pick<WorkspaceObjects, "refresh">;
}

const shortestIntervalMs = 1_000;
const defaultIntervalMs = 10 * 60_000;

export function createObjectRefreshController(deps: ObjectRefreshDeps): Controller {
  const { helmReleases, bundles, objects, clock } = deps;
  /** The request and the time of the last reads; what is referenced is read when it is first watched. */
  const last = new Map<string, { readonly request: string; readonly atMs: number }>();

  return createController({
    name: "helmrelease-objects",
    workers: 4,
    log: deps.log,
    metrics: deps.metrics,
    clock,
    watches: [watch(helmReleases, { predicate: isSpecChange, toKeys: ownKey })],
    async reconcile(key, { log }) {
      const release = helmReleases.store.get(key);
      if (release === undefined || release.spec?.suspend === true) {
        last.delete(key);
        return done();
      }
      const nowMs = clock.monotonic();
      const request = requestTokens(release.metadata).requestedAt ?? "";
      const before = last.get(key) ?? { request, atMs: nowMs };
      const waitMs = before.atMs + intervalMsOf(release) - nowMs;
      if (before.request === request && waitMs > 0) {
        last.set(key, before);
        return requeueAfter(waitMs, "interval");
      }
      const refs = originObjects(bundles.get(bundleKeyFor(release))?.spec.helmOpOptions?.origin);
      for (const ref of refs) {
        const { namespace, name } = placeOnHub(ref, release.metadata.namespace ?? "");
        await objects
          .refresh(namespace, { kind: ref.kind, name })
          .catch((thrown: unknown) =>
            log.debug({ object: ref, err: messageOf(thrown) }, "referenced object not read"),
          );
      }
      last.set(key, { request, atMs: nowMs });
      return requeueAfter(intervalMsOf(release), "interval");
    },
  });
}

function intervalMsOf({ spec }: HelmRelease): number {
  const parsed = parseGoDuration(spec?.interval ?? "") ?? defaultIntervalMs;
  return Math.max(parsed, shortestIntervalMs);
}

/** The objects that an origin names, once each. */
export function originObjects(origin: BundleOrigin | undefined): readonly ObjectRef[] {
  const { access, included = [], dependencies = [], valuesFrom = [] } = origin ?? {};
  const sources = [...(access === undefined ? [] : [access]), ...included, ...dependencies];
  const secrets = sources
    .flatMap(({ secret, certSecret, proxySecret }) => [secret, certSecret, proxySecret])
    .filter((name) => name !== undefined);
  const refs: readonly ObjectRef[] = [
    ...secrets.map((name): ObjectRef => ({ kind: "Secret", name })),
    ...valuesFrom.map(({ kind, name }): ObjectRef => ({ kind, name })),
  ];
  return [...new Map(refs.map((ref) => [`${ref.kind}/${ref.name}`, ref])).values()];
}
