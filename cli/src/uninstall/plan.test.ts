import assert from "node:assert/strict";
import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import type { AppKind } from "@flotilla/shared/api/apps";
import {
  bundleDeploymentFinalizer,
  bundleFinalizer,
  clusterAnnotation,
  clusterFinalizer,
  clusterLabel,
  clusterManagementLabel,
  clusterNamespaceAnnotation,
  clusterNamespaceLabel,
  fluxFinalizer,
  helmOpFinalizer,
} from "@flotilla/shared/api/names";
import { helmRepositories } from "@flotilla/shared/flux";
import type { KubeObject, Namespace, ObjectMeta } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { FleetObjects } from "./fleet-objects.ts";
import { planRemoval, type RemovalPlan, releasePatch } from "./plan.ts";

const namespace = "fleet-default";
const deletionTimestamp = "2026-01-01T00:00:00Z";
const named = (name: string, more: Partial<ObjectMeta> = {}): KubeObject => ({
  metadata: { name, namespace, ...more },
});
const paris: Cluster = { ...named("paris"), spec: {} };
const web = named("web", { finalizers: [helmOpFinalizer] });
const bundle = named("web", { finalizers: [bundleFinalizer] });
const deploymentOf = (cluster: string, more: Partial<ObjectMeta> = {}): BundleDeployment => ({
  metadata: {
    name: "web",
    namespace: `cluster-${cluster}`,
    labels: { [clusterLabel]: cluster, [clusterNamespaceLabel]: namespace },
    finalizers: [bundleDeploymentFinalizer],
    ...more,
  },
  spec: { deploymentID: "", stagedDeploymentID: "" },
});
const namespaceOf = (cluster: string): Namespace => ({
  metadata: {
    name: `cluster-${cluster}`,
    annotations: { [clusterAnnotation]: cluster, [clusterNamespaceAnnotation]: namespace },
  },
});
const none: FleetObjects["apps"] = new Map();
const empty: FleetObjects = {
  apps: none,
  deployments: [],
  clusters: [],
  namespaces: [],
  tokens: [],
  groups: [],
  policies: [],
  schedules: [],
  mappings: [],
  receivers: [],
  heldSources: [],
};
const full: FleetObjects = {
  apps: new Map([
    ["HelmOp", [web]],
    ["Bundle", [bundle]],
  ]),
  deployments: [deploymentOf("paris")],
  clusters: [paris],
  namespaces: [namespaceOf("paris")],
  tokens: [named("join")],
  groups: [named("all")],
  policies: [named("default")],
  schedules: [named("nights")],
  mappings: [named("shared")],
  receivers: [],
  heldSources: [],
};
const withBundle = (kind: AppKind, object: KubeObject): FleetObjects["apps"] =>
  new Map([
    [kind, [object]],
    ["Bundle", [bundle]],
  ]);
const release = named("app", { finalizers: [fluxFinalizer] });
const hook = named("hook", { finalizers: [fluxFinalizer] });

/** `ACTION KIND NAME` of each removal, and what it waits for. */
function shown({ removals, waitingFor }: RemovalPlan) {
  return {
    removals: removals.map(
      ({ action, resource, object }) => `${action} ${resource.kind} ${object.metadata.name}`,
    ),
    waitingFor: waitingFor.map(({ kind }) => kind),
  };
}

const terminating = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp },
});

describe("a fleet is emptied", () => {
  const cases: readonly (readonly [
    what: string,
    fleet: FleetObjects,
    keepReleases: boolean,
    expected: ReturnType<typeof shown>,
  ])[] = [
    [
      "from its HelmOps, and tokens so that no cluster enrols",
      full,
      false,
      {
        removals: ["delete ClusterRegistrationToken join", "delete HelmOp web"],
        waitingFor: ["ClusterRegistrationToken", "HelmOp"],
      },
    ],
    [
      "of nothing more while a HelmOp is being deleted, whose finalizer is the hub's to remove",
      { ...full, tokens: [], apps: withBundle("HelmOp", terminating(web)) },
      false,
      { removals: [], waitingFor: ["HelmOp"] },
    ],
    [
      "of Bundles without a HelmOp",
      { ...full, tokens: [], apps: new Map([["Bundle", [bundle]]]) },
      false,
      { removals: ["delete Bundle web"], waitingFor: ["Bundle"] },
    ],
    [
      "of Clusters only when their agents have uninstalled everything",
      {
        ...full,
        tokens: [],
        apps: none,
        deployments: [terminating(deploymentOf("paris"))],
      },
      false,
      { removals: [], waitingFor: ["BundleDeployment"] },
    ],
    [
      "of Clusters then",
      { ...full, tokens: [], apps: none, deployments: [] },
      false,
      { removals: ["delete Cluster paris"], waitingFor: ["Cluster"] },
    ],
    [
      "of namespaces, groups, Policies, Schedules and mappings at last",
      { ...full, tokens: [], apps: none, deployments: [], clusters: [] },
      false,
      {
        removals: [
          "delete Namespace cluster-paris",
          "delete ClusterGroup all",
          "delete Policy default",
          "delete Schedule nights",
          "delete BundleNamespaceMapping shared",
        ],
        waitingFor: ["Namespace", "ClusterGroup", "Policy", "Schedule", "BundleNamespaceMapping"],
      },
    ],
    [
      "from its HelmReleases as from its HelmOps, so that no Bundle is created again",
      { ...full, tokens: [], apps: withBundle("HelmRelease", release) },
      false,
      { removals: ["delete HelmRelease app"], waitingFor: ["HelmRelease"] },
    ],
    [
      "of nothing more while a HelmRelease is being deleted, whose finalizer is the hub's to remove",
      { ...full, tokens: [], apps: withBundle("HelmRelease", terminating(release)) },
      false,
      { removals: [], waitingFor: ["HelmRelease"] },
    ],
    [
      "of HelmReleases without a hub where releases stay",
      { ...empty, apps: new Map([["HelmRelease", [terminating(release)]]]) },
      true,
      { removals: ["release HelmRelease app"], waitingFor: ["HelmRelease"] },
    ],
    [
      "of Receivers, and of the finalizer of Flux on sources, which stay",
      { ...empty, receivers: [hook], heldSources: [[helmRepositories, [release]]] },
      false,
      {
        removals: ["delete Receiver hook", "release HelmRepository app"],
        waitingFor: ["Receiver", "HelmRepository"],
      },
    ],
    ["until nothing is left", empty, true, { removals: [], waitingFor: [] }],
    [
      "from its Clusters where releases stay: nothing of a deleted Cluster is uninstalled",
      full,
      true,
      {
        removals: ["delete ClusterRegistrationToken join", "delete Cluster paris"],
        waitingFor: ["ClusterRegistrationToken", "Cluster"],
      },
    ],
    [
      "of a Cluster that would be emptied first only when it no longer would, where releases stay",
      {
        ...full,
        tokens: [],
        clusters: [{ ...paris, metadata: { ...paris.metadata, finalizers: [clusterFinalizer] } }],
      },
      true,
      { removals: ["release Cluster paris"], waitingFor: ["Cluster"] },
    ],
    [
      "of HelmOps without a hub where releases stay",
      { ...full, tokens: [], clusters: [], apps: withBundle("HelmOp", terminating(web)) },
      true,
      { removals: ["release HelmOp web"], waitingFor: ["HelmOp"] },
    ],
    [
      "of a HelmOp that is not being deleted by deleting it first: a hub would add its finalizer again",
      { ...full, tokens: [], clusters: [] },
      true,
      { removals: ["delete HelmOp web"], waitingFor: ["HelmOp"] },
    ],
    [
      "of BundleDeployments without a hub where releases stay",
      {
        ...empty,
        deployments: [terminating(deploymentOf("paris")), deploymentOf("rome")],
      },
      true,
      {
        removals: ["release BundleDeployment web", "delete BundleDeployment web"],
        waitingFor: ["BundleDeployment"],
      },
    ],
    [
      "of nothing that belongs to a Cluster that another system manages",
      {
        ...empty,
        clusters: [
          {
            ...paris,
            metadata: { ...paris.metadata, labels: { [clusterManagementLabel]: "CLI" } },
          },
        ],
        deployments: [terminating(deploymentOf("paris"))],
        namespaces: [namespaceOf("paris")],
      },
      false,
      { removals: [], waitingFor: [] },
    ],
  ];
  for (const [what, fleet, keepReleases, expected] of cases)
    test(what, () => assert.deepEqual(shown(planRemoval(fleet, { keepReleases })), expected));
});

describe("the patch that removes the finalizer of the hub", () => {
  test("keeps the finalizers of others, and sets the deletion policy of a Cluster to Retain", () => {
    const object = named("paris", { uid: "u", finalizers: ["example.com/a", clusterFinalizer] });
    const [release] = planRemoval(
      { ...empty, clusters: [{ ...object, spec: { deletionPolicy: "Uninstall" } }] },
      { keepReleases: true },
    ).removals;

    assert.ok(release !== undefined);
    assert.deepEqual(releasePatch(release), {
      metadata: { uid: "u", finalizers: ["example.com/a"] },
      spec: { deletionPolicy: "Retain" },
    });
  });
});
