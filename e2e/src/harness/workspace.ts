/** HelmOps, Bundles, BundleDeployments and Clusters of one workspace on the hub. */
import {
  apiVersion,
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type Cluster,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "./cluster-client.ts";
import { currentCondition, messageOf, waitForObject, waitUntilGone } from "./wait.ts";

export interface Workspace {
  readonly namespace: string;
  /** Refers to an object in its namespace. */
  ref(name: string): ObjectRef;
  /** In all clusters and in a namespace of its own name, unless the spec says otherwise. */
  createHelmOp(name: string, spec: HelmOp["spec"]): Promise<HelmOp>;
  /** `spec`: a merge patch of it. */
  patchHelmOp(name: string, spec: unknown): Promise<HelmOp>;
  /** Resolves when it is gone, which does not wait for the clusters. */
  deleteHelmOp(name: string): Promise<void>;
  helmOp(name: string): Promise<HelmOp | undefined>;
  waitForHelmOp(
    name: string,
    what: string,
    isDesired: (helmOp: HelmOp) => boolean,
  ): Promise<HelmOp>;
  /** Resolves with the HelmOp once a condition, by default Ready, has such a message. */
  waitForMessage(name: string, message: RegExp, type?: string): Promise<HelmOp>;
  /** Resolves with the HelmOp once it is ready with this version in so many clusters. */
  waitUntilReady(name: string, version: string, clusters: number): Promise<HelmOp>;
  bundle(name: string): Promise<Bundle | undefined>;
  bundleDeployment(cluster: string, name: string): Promise<BundleDeployment | undefined>;
  waitForBundleDeployment(
    cluster: string,
    name: string,
    what: string,
    isDesired: (deployment: BundleDeployment) => boolean,
  ): Promise<BundleDeployment>;
  waitUntilUndeployed(cluster: string, name: string): Promise<void>;
  waitForCluster(
    name: string,
    what: string,
    isDesired: (cluster: Cluster) => boolean,
  ): Promise<Cluster>;
}

export function createWorkspace(hub: ClusterClient, namespace = workspaceNamespace): Workspace {
  const ref = (name: string) => ({ namespace, name });
  const deploymentRef = (cluster: string, name: string) => ({
    namespace: clusterNamespaceName(namespace, cluster),
    name,
  });
  const waitForHelmOp: Workspace["waitForHelmOp"] = (name, what, isDesired) =>
    waitForObject(hub, helmOps, ref(name), what, isDesired);

  return {
    namespace,
    ref,
    createHelmOp: (name, spec) =>
      hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: ref(name),
        spec: { namespace: name, targets: [{ clusterSelector: {} }], ...spec },
      }),
    patchHelmOp: (name, spec) => hub.patch(helmOps, ref(name), { type: "merge", body: { spec } }),
    async deleteHelmOp(name) {
      await hub.delete(helmOps, ref(name));
      await waitUntilGone(hub, helmOps, ref(name));
    },
    helmOp: (name) => hub.reader.get(helmOps, ref(name)),
    waitForHelmOp,
    waitForMessage: (name, message, type = "Ready") =>
      waitForHelmOp(name, `${type} with ${message}`, (found) =>
        message.test(messageOf(found, type)),
      ),
    waitUntilReady: (name, version, count) =>
      waitForHelmOp(name, `ready with ${version} in ${count} clusters`, isReady(version, count)),
    bundle: (name) => hub.reader.get(bundles, ref(name)),
    bundleDeployment: (cluster, name) =>
      hub.reader.get(bundleDeployments, deploymentRef(cluster, name)),
    waitForBundleDeployment: (cluster, name, what, isDesired) =>
      waitForObject(hub, bundleDeployments, deploymentRef(cluster, name), what, isDesired),
    waitUntilUndeployed: (cluster, name) =>
      waitUntilGone(hub, bundleDeployments, deploymentRef(cluster, name)),
    waitForCluster: (name, what, isDesired) =>
      waitForObject(hub, clusters, ref(name), what, isDesired),
  };
}

/** Ready, of its current generation, with this version in so many clusters. */
export function isReady(version: string, count: number): (helmOp: HelmOp) => boolean {
  return (helmOp) =>
    currentCondition(helmOp, "Ready")?.status === "True" &&
    helmOp.status?.version === version &&
    helmOp.status.display?.readyBundleDeployments === `${count}/${count}`;
}
