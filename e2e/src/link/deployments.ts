/** BundleDeployments of a cluster, and the reports of an agent on them. */
import { createHash } from "node:crypto";
import type { DeploymentKey, DeploymentState } from "@flotilla/proto";
import { apiVersion, type BundleDeployment, bundleDeployments } from "@flotilla/shared/api";
import {
  clusterLabel,
  clusterNamespaceLabel,
  clusterNamespaceName,
} from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { workspace } from "../harness/hub-control-plane.ts";

const deploymentFinalizer = "flotilla.dev/test";

export function sha256(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Creates, changes or deletes the BundleDeployment `name` of a cluster. */
export function deploymentsOf(rest: KubeRest, cluster: string) {
  const namespace = clusterNamespaceName(workspace, cluster);
  return {
    async create(
      name: string,
      deploymentId: string,
      labels: Readonly<Record<string, string>> = {},
      referencedObjects: readonly string[] = [],
    ): Promise<BundleDeployment> {
      return rest.create(bundleDeployments, {
        apiVersion,
        kind: "BundleDeployment",
        metadata: {
          name,
          namespace,
          labels: { [clusterLabel]: cluster, [clusterNamespaceLabel]: workspace, ...labels },
          finalizers: [deploymentFinalizer],
        },
        spec: {
          deploymentID: deploymentId,
          stagedDeploymentID: deploymentId,
          ...(referencedObjects.length > 0 && { referencedObjects: [...referencedObjects] }),
        },
      });
    },
    async change(name: string, spec: Partial<BundleDeployment["spec"]>): Promise<void> {
      await rest.patch(bundleDeployments, { namespace, name }, { type: "merge", body: { spec } });
    },
    /** Without its finalizers, as on a hub that was restored from a backup without it. */
    async remove(name: string): Promise<void> {
      const body = { metadata: { finalizers: null } };
      await rest.patch(bundleDeployments, { namespace, name }, { type: "merge", body });
      await rest.delete(bundleDeployments, { namespace, name });
    },
    async delete(name: string): Promise<void> {
      await rest.delete(bundleDeployments, { namespace, name });
    },
    key: (name: string) => keyOf({ namespace, name }),
  };
}

export function deployedState(deployment: DeploymentKey, message = ""): DeploymentState {
  return {
    ...deployment,
    deploymentId: sha256("1"),
    phase: "deployed",
    message,
    ready: true,
    notReady: [],
    resources: [],
    incomplete: false,
    counts: { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 },
  };
}
