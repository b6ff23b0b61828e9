/** The controller of BundleNamespaceMappings, which writes their statuses alone: Bundles read their selectors themselves. */
import {
  type BundleNamespaceMapping,
  type BundleNamespaceMappingStatus,
  bundleNamespaceMappings,
  type Cluster,
} from "@flotilla/shared/api";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  done,
  isExistenceChange,
  isSpecChange,
  ownKey,
  through,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import { type ControllerDeps, createPublisher, type Publisher } from "../../base/index.ts";
import { allowedNamespacesViolation, type Mappings, mapsNamespace } from "../../rules/index.ts";
import { isUrgentMapping, mappingStatus } from "./status.ts";

export interface MappingControllerDeps extends ControllerDeps {
  readonly mappings: Mappings;
  readonly statuses: Publisher<BundleNamespaceMappingStatus, BundleNamespaceMapping>;
}

/** Thousands of agents that enrol change the lists of clusters. */
const coalesceMs = 1_000;

export function createMappingController(deps: MappingControllerDeps): Controller {
  const { mappings, workspaces, policies, clusters } = deps.caches;

  /** The mappings that select a namespace as it is. */
  function selecting(namespace: string): readonly ObjectKey[] {
    const workspace = workspaces.store.get(namespace);
    return mappings.store
      .list()
      .filter((each) => mapsNamespace(each, workspace))
      .map(keyOf);
  }

  const controller: Controller = createController({
    name: "bundlenamespacemapping",
    workers: 2,
    reconcile(key) {
      const mapping = mappings.store.get(key);
      if (mapping === undefined) return Promise.resolve(done());
      const namespaces = deps.mappings.selectedBy(mapping);
      const { namespace: own = "" } = mapping.metadata;
      const refused = namespaces.filter(
        (each) => allowedNamespacesViolation(policies.store, each, own) !== undefined,
      );
      const status = deps.statuses.current(mapping);
      const current = status === undefined ? mapping : { ...mapping, status };
      const now = formatTimeMs(deps.clock.now());
      deps.statuses.publish(mapping, mappingStatus({ mapping: current, namespaces, refused, now }));
      return Promise.resolve(done());
    },
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(mappings, { predicate: isSpecChange, toKeys: ownKey }),
      watch(workspaces, {
        predicate: isSpecChange,
        toKeys: ({ before, after }) =>
          mappings.store
            .list()
            .filter((each) => mapsNamespace(each, before) !== mapsNamespace(each, after))
            .map(keyOf),
        replay: false,
      }),
      watch(policies, {
        predicate: isSpecChange,
        toKeys: ({ key }) => selecting(refOf(key).namespace ?? ""),
        replay: false,
      }),
      through(
        watch(clusters, {
          predicate: (change) => isExistenceChange(change) && isFirstOrLast(change),
          toKeys: ({ key }) => selecting(refOf(key).namespace ?? ""),
          replay: false,
        }),
        () => (key) => controller.enqueueAfter(key, coalesceMs),
      ),
    ],
  });

  /** Whether its namespace has no other Clusters; the others change no status. */
  function isFirstOrLast({ key }: Change<Cluster>): boolean {
    return clusters.store.byIndex(byNamespace, refOf(key).namespace ?? "").length <= 1;
  }

  return controller;
}

export function createMappingPublisher({
  rest,
  caches,
  clock,
  log,
}: Pick<ControllerDeps, "rest" | "caches" | "clock" | "log">): MappingControllerDeps["statuses"] {
  return createPublisher<BundleNamespaceMappingStatus, BundleNamespaceMapping>({
    rest,
    clock,
    log,
    resource: bundleNamespaceMappings,
    store: caches.mappings.store,
    isUrgent: isUrgentMapping,
    rollUp: ({ status }) => status,
  });
}
