/** The controller of HelmReleases: what it watches, and how a change maps to keys. */
import { type HelmRelease, type HelmReleaseStatus, helmReleases } from "@flotilla/shared/flux";
import { defineIndex } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  isSpecChange,
  ownKey,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import {
  bundleKeyOf,
  type ControllerDeps,
  type FluxInformers,
  type Publisher,
} from "../../base/index.ts";
import type { HubRules, PinSigner, ReconcileDurations } from "../../rules/index.ts";
import { frontEndReconciler } from "../lifecycle/reconcile.ts";
import { chartSourceOf } from "./chart.ts";
import { policyNamespacesOf } from "./destination.ts";
import { helmReleaseFrontEnd } from "./front-end.ts";
import { bundleKeyFor } from "./plan.ts";
import { isReadAgain, isSettled } from "./source-change.ts";
import type { ValidationOptions } from "./validate.ts";

export interface HelmReleaseControllerDeps extends ControllerDeps, HubRules {
  readonly flux: FluxInformers;
  readonly statuses: Publisher<HelmReleaseStatus, HelmRelease>;
  readonly patterns: Patterns;
  readonly signer: PinSigner;
  readonly options: ValidationOptions;
  readonly durations: ReconcileDurations;
}

/** HelmReleases by the key of their Bundle. */
const byOwnBundle = defineIndex<HelmRelease>("bundle", (release) => [bundleKeyFor(release)]);

/** HelmReleases by the source of their chart. */
const byChart = defineIndex<HelmRelease>("chart", (release) => {
  const ref = chartSourceOf(release);
  return ref === undefined ? [] : [`${ref.kind}/${keyOf(ref)}`];
});

/** Those that are being deleted. */
const byDeletion = defineIndex<HelmRelease>("deletion", ({ metadata }) =>
  metadata.deletionTimestamp === undefined ? [] : [deleting],
);

const deleting = "deleting";

/** HelmReleases by the namespaces whose Policies they obey. */
const byPolicyNamespace = defineIndex<HelmRelease>("policyNamespace", (release) => [
  ...new Set([...policyNamespacesOf(release), ...sourceNamespaceOf(release)]),
]);

/** Whose Policies judge the use of its Secrets. */
function sourceNamespaceOf(release: HelmRelease): readonly string[] {
  const ref = chartSourceOf(release);
  return ref === undefined ? [] : [ref.namespace];
}

/** HelmReleases by the namespace of their HelmChart, whose HelmRepositories its dependencies are accessed with. */
const byChartNamespace = defineIndex<HelmRelease>("chartNamespace", (release) => {
  const ref = chartSourceOf(release);
  return ref?.kind === "HelmChart" ? [ref.namespace] : [];
});

export function createHelmReleaseController(deps: HelmReleaseControllerDeps): Controller {
  const { flux, caches } = deps;
  const { store } = flux.helmReleases;
  const using = (kind: string, key: ObjectKey) =>
    store.byIndex(byChart, `${kind}/${key}`).map(keyOf);
  const ofSourceNamespace = (key: ObjectKey) =>
    store.byIndex(byChartNamespace, refOf(key).namespace ?? "").map(keyOf);
  const ofBundle = (key: ObjectKey) => releasesOfBundle(flux, key);
  return createController({
    name: "helmrelease",
    workers: 32,
    reconcile: deps.durations.timed(
      helmReleases.kind,
      store,
      frontEndReconciler(
        helmReleaseFrontEnd({
          ...deps,
          deployments: caches.deployments.store,
          clusters: caches.clusters.store,
        }),
        { ...deps, bundles: caches.bundles.store, policies: caches.policies.store },
      ),
    ),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(flux.helmReleases, { predicate: isSpecChange, toKeys: ownKey }),
      watch(flux.helmCharts, {
        predicate: (change) => isSpecChange(change) || isSettled(change),
        toKeys: ({ key }) => using("HelmChart", key),
        replay: false,
      }),
      watch(flux.ociRepositories, {
        predicate: isSettled,
        toKeys: ({ key }) => using("OCIRepository", key),
        replay: false,
      }),
      watch(flux.helmRepositories, {
        predicate: isSpecChange,
        toKeys: ({ key }) => ofSourceNamespace(key),
        replay: false,
      }),
      watch(flux.gitRepositories, {
        predicate: isReadAgain,
        toKeys: ({ key }) => ofSourceNamespace(key),
        replay: false,
      }),
      watch(flux.buckets, {
        predicate: isReadAgain,
        toKeys: ({ key }) => ofSourceNamespace(key),
        replay: false,
      }),
      // Another client changed or deleted it.
      watch(caches.bundles, {
        predicate: (change) => change.before !== undefined && isSpecChange(change),
        toKeys: ({ key }) => ofBundle(key),
        replay: false,
      }),
      // The last of a HelmRelease that is being deleted.
      watch(caches.deployments, {
        predicate: ({ after }) => after === undefined,
        toKeys: ({ before }) => (before === undefined ? [] : ofBundle(bundleKeyOf(before))),
        replay: false,
      }),
      // Their deletion waits for connected clusters only.
      watch(caches.clusters, {
        predicate: ({ before, after }) =>
          before?.status?.agent?.connected === true && after?.status?.agent?.connected !== true,
        toKeys: () => store.byIndex(byDeletion, deleting).map(keyOf),
        replay: false,
      }),
      watch(caches.policies, {
        predicate: isSpecChange,
        toKeys: ({ key }) =>
          store.byIndex(byPolicyNamespace, refOf(key).namespace ?? "").map(keyOf),
        replay: false,
      }),
    ],
  });
}

/** The keys of the HelmReleases that a Bundle is made for. */
export function releasesOfBundle(
  { helmReleases }: Pick<FluxInformers, "helmReleases">,
  bundle: ObjectKey,
): readonly ObjectKey[] {
  return helmReleases.store.byIndex(byOwnBundle, bundle).map(keyOf);
}
