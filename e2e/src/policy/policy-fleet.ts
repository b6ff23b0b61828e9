/** A fleet with one cluster, a chart repository, and the Policies, HelmOps and Bundles of one workspace. */

import {
  apiVersion,
  type Bundle,
  bundleDeployments,
  bundles,
  type Condition,
  type HelmOp,
  helmOps,
  type Policy,
  policies,
} from "@flotilla/shared/api";
import {
  agentNamespace,
  clusterNamespaceName,
  workspaceNamespace,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import {
  configMaps,
  events,
  type KubeObject,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { type ChartServer, startChartServer } from "../harness/chart-server.ts";
import { startTestFleet, type TestCluster, type TestFleet } from "../harness/fleet.ts";
import { objectThat } from "../harness/wait.ts";
import { clusterRoleBindings } from "../tenants/tenant-fleet.ts";

export interface PolicyBench {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  readonly charts: ChartServer;
  createHelmOp(name: string, spec: HelmOp["spec"]): Promise<HelmOp>;
  /** As a person does, without labels and finalizers. */
  createBundle(name: string, spec: Bundle["spec"]): Promise<Bundle>;
  createPolicy(
    name: string,
    fields: Omit<Policy, keyof KubeObject>,
    namespace?: string,
  ): Promise<Policy>;
  changePolicy(name: string, fields: Omit<Policy, keyof KubeObject>): Promise<Policy>;
  removePolicy(name: string): Promise<void>;
  /** An account of the agent's namespace that may do everything in the cluster. */
  makeAdmin(name: string): Promise<void>;
  removeHelmOp(name: string): Promise<void>;
  bundleThat(name: string, what: string, isWanted: (bundle: Bundle) => boolean): Promise<Bundle>;
  changeBundle(name: string, spec: unknown): Promise<Bundle>;
  changeHelmOp(name: string, spec: unknown): Promise<HelmOp>;
  /** What a release of `configChart` installed: `version` and `greeting`. Releases go to the namespace of their name. */
  installed(release: string): Promise<Readonly<Record<string, string>> | undefined>;
  uninstalled(release: string): Promise<void>;
  /** How many revisions of a release Helm has. */
  revisionsOf(release: string): Promise<number>;
  /** What its cluster is to run. */
  contentOf(name: string): Promise<string | undefined>;
  /** `KIND NAME` of every Warning that a Policy caused, each as often as it was recorded, in order. */
  violations(): Promise<readonly string[]>;
}

/** It lasts for the file. */
export async function startPolicyBench(): Promise<PolicyBench> {
  const fleet = await startTestFleet({ clusters: [{ env: "prod" }] });
  afterAll(() => fleet.close());
  const charts = await startChartServer();
  afterAll(() => charts.close());
  const [cluster] = fleet.clusters;
  if (cluster === undefined) throw new Error("the fleet has no cluster");
  const { hub } = fleet;
  const refOf = (name: string) => ({ namespace: workspaceNamespace, name });

  return {
    fleet,
    cluster,
    charts,
    createHelmOp: (name, spec) =>
      hub.create(helmOps, { apiVersion, kind: "HelmOp", metadata: refOf(name), spec }),
    createBundle: (name, spec) =>
      hub.create(bundles, { apiVersion, kind: "Bundle", metadata: refOf(name), spec }),
    createPolicy: (name, fields, namespace = workspaceNamespace) =>
      hub.create(policies, {
        apiVersion,
        kind: "Policy",
        metadata: { namespace, name },
        ...fields,
      }),
    changePolicy: (name, fields) =>
      hub.patch(policies, refOf(name), { type: "merge", body: fields }),
    async makeAdmin(name) {
      const account = { namespace: agentNamespace, name };
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole" };
      await cluster.rest.create(clusterRoleBindings, {
        metadata: { name },
        roleRef: { ...roleRef, name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", ...account }],
      });
      await cluster.rest.create(serviceAccounts, { metadata: account });
    },
    async removePolicy(name) {
      await hub.delete(policies, refOf(name));
    },
    async removeHelmOp(name) {
      await hub.delete(helmOps, refOf(name));
      const isGone = (helmOp: HelmOp | undefined) => helmOp === undefined;
      await objectThat(hub, helmOps, refOf(name), "gone", isGone);
    },
    async bundleThat(name, what, isWanted) {
      const found = await objectThat(
        hub,
        bundles,
        refOf(name),
        what,
        (bundle) => bundle !== undefined && isWanted(bundle),
      );
      if (found === undefined) throw new Error(`Bundle ${name} is not there`);
      return found;
    },
    changeBundle: (name, spec) =>
      hub.patch(bundles, refOf(name), { type: "merge", body: { spec } }),
    changeHelmOp: (name, spec) =>
      hub.patch(helmOps, refOf(name), { type: "merge", body: { spec } }),
    installed: async (release) => (await cluster.rest.get(configMaps, configOf(release)))?.data,
    async uninstalled(release) {
      const isGone = (object: KubeObject | undefined) => object === undefined;
      await objectThat(cluster.rest, configMaps, configOf(release), "uninstalled", isGone);
    },
    async revisionsOf(release) {
      const labelSelector = `owner=helm,name=${release}`;
      return (await cluster.rest.list(secrets, { namespace: release, labelSelector })).items.length;
    },
    async contentOf(name) {
      const namespace = clusterNamespaceName(workspaceNamespace, cluster.name);
      return (await hub.get(bundleDeployments, { namespace, name }))?.spec.deploymentID;
    },
    async violations() {
      const { items } = await hub.list(events, { namespace: workspaceNamespace });
      return items
        .filter(({ reason }) => reason === "PolicyViolation")
        .flatMap(({ regarding, series }) =>
          Array<string>(series?.count ?? 1).fill(`${regarding?.kind} ${regarding?.name}`),
        )
        .sort();
    },
  };
}

function configOf(release: string) {
  return { namespace: release, name: `${release}-config` };
}

/** Of the present generation. */
export function conditionOf(
  { metadata, status }: HelmOp | Bundle,
  type: string,
): Condition | undefined {
  const condition = findCondition(status?.conditions, type);
  return condition?.observedGeneration === metadata.generation ? condition : undefined;
}

/** Ready, of its present generation, in the one cluster, with this version. */
export function isBundleReady(version: string): (bundle: Bundle) => boolean {
  return (bundle) =>
    conditionOf(bundle, "Ready")?.status === "True" &&
    bundle.status?.version === version &&
    bundle.status.display?.readyClusters === "1/1";
}
