/** A fleet with one cluster, and the Policies and Bundles of its workspace. */
import { apiVersion, type Bundle, bundles, type Policy, policies } from "@flotilla/shared/api";
import { events, type KubeObject } from "@flotilla/shared/kube/objects";
import type { ChartServer } from "../harness/chart-server.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet } from "../harness/fleet.ts";
import { installedConfig } from "../harness/releases.ts";
import { currentCondition, waitForObject } from "../harness/wait.ts";

export interface PolicyFleet {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  readonly charts: ChartServer;
  createPolicy(
    name: string,
    fields: Omit<Policy, keyof KubeObject>,
    namespace?: string,
  ): Promise<Policy>;
  patchPolicy(name: string, fields: Omit<Policy, keyof KubeObject>): Promise<Policy>;
  deletePolicy(name: string): Promise<void>;
  /** As a user does, without labels and finalizers. */
  createBundle(name: string, spec: Bundle["spec"]): Promise<Bundle>;
  patchBundle(name: string, spec: unknown): Promise<Bundle>;
  waitForBundle(
    name: string,
    what: string,
    isDesired: (bundle: Bundle) => boolean,
  ): Promise<Bundle>;
  /** The data of a release of `configChart`: `version` and `greeting`. Releases are in the namespace of their name. */
  installed(release: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** The deployment id that the cluster is to run. */
  deploymentIdOf(name: string): Promise<string | undefined>;
  /** `KIND NAME` of every Warning that a Policy caused, each as often as it was recorded, in order. */
  violations(): Promise<readonly string[]>;
}

/** Lasts for the file. */
export async function startPolicyFleet(): Promise<PolicyFleet> {
  const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{ env: "prod" }] });
  const { hub, workspace } = fleet;
  const { ref } = workspace;

  return {
    fleet,
    cluster,
    charts,
    createPolicy: (name, fields, namespace = workspace.namespace) =>
      hub.create(policies, {
        apiVersion,
        kind: "Policy",
        metadata: { namespace, name },
        ...fields,
      }),
    patchPolicy: (name, fields) => hub.patch(policies, ref(name), { type: "merge", body: fields }),
    async deletePolicy(name) {
      await hub.delete(policies, ref(name));
    },
    createBundle: (name, spec) =>
      hub.create(bundles, { apiVersion, kind: "Bundle", metadata: ref(name), spec }),
    patchBundle: (name, spec) => hub.patch(bundles, ref(name), { type: "merge", body: { spec } }),
    waitForBundle: (name, what, isDesired) =>
      waitForObject(hub, bundles, ref(name), what, isDesired),
    installed: async (release) => (await installedConfig(cluster.client, release))?.data,
    async deploymentIdOf(name) {
      return (await workspace.bundleDeployment(cluster.name, name))?.spec.deploymentID;
    },
    async violations() {
      const all = await hub.reader.list(events, { namespace: workspace.namespace });
      return all
        .filter(({ reason }) => reason === "PolicyViolation")
        .flatMap(({ regarding, series }) =>
          Array<string>(series?.count ?? 1).fill(`${regarding?.kind} ${regarding?.name}`),
        )
        .sort();
    },
  };
}

/** Ready, of its current generation, in the one cluster, with this version. */
export function isBundleReady(version: string): (bundle: Bundle) => boolean {
  return (bundle) =>
    currentCondition(bundle, "Ready")?.status === "True" &&
    bundle.status?.version === version &&
    bundle.status.display?.readyClusters === "1/1";
}
