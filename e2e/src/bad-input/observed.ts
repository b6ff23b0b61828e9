/** HelmOps of a test fleet with one cluster: made, changed, and looked at where people and Helm would. */
import {
  apiVersion,
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import type { TestCluster } from "../harness/fleet.ts";
import { helmOpThat, isReady } from "../harness/wait.ts";

/** Where the releases of all HelmOps here go. */
export const releaseNamespace = "bad-input";

/** A merge patch of a spec. */
export type Change = Readonly<Record<string, unknown>>;

/** One of Helm's records: what tells that nobody has touched it. */
export interface HelmRecord {
  readonly name: string;
  readonly uid: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** What tells that nobody has touched a deployment. */
export interface Running {
  readonly bundle: unknown;
  readonly deployment: unknown;
  readonly records: readonly HelmRecord[];
}

export interface Workbench {
  create(name: string, spec: HelmOp["spec"]): Promise<HelmOp>;
  change(name: string, spec: Change): Promise<HelmOp>;
  /** The whole spec anew. */
  replaceSpec(name: string, spec: HelmOp["spec"]): Promise<void>;
  that(name: string, what: string, isWanted: (helmOp: HelmOp) => boolean): Promise<HelmOp>;
  /** Waits for Accepted to say this of the current generation. */
  accepted(name: string, status: "True" | "False"): Promise<HelmOp>;
  /** Waits until it is accepted, and Ready at 1.0.0 in the one cluster. */
  ready(name: string): Promise<HelmOp>;
  deploymentOf(name: string): Promise<BundleDeployment | undefined>;
  /** Of a release; without a name, of all. */
  recordsOf(release?: string): Promise<readonly HelmRecord[]>;
  runningOf(name: string): Promise<Running>;
}

export function workbench(hub: KubeRest, cluster: TestCluster): Workbench {
  const refOf = (name: string) => ({ namespace: workspaceNamespace, name });
  const that: Workbench["that"] = (name, what, isWanted) => helmOpThat(hub, name, what, isWanted);

  function deploymentOf(name: string): Promise<BundleDeployment | undefined> {
    const namespace = clusterNamespaceName(workspaceNamespace, cluster.name);
    return hub.get(bundleDeployments, { namespace, name });
  }

  async function recordsOf(release?: string): Promise<readonly HelmRecord[]> {
    const { items } = await cluster.rest.list(secrets, {
      namespace: releaseNamespace,
      labelSelector: release === undefined ? "owner=helm" : `owner=helm,name=${release}`,
    });
    return items.map(({ metadata: { name, uid, labels } }) => ({ name, uid, labels }));
  }

  return {
    create: (name, spec) =>
      hub.create(helmOps, { apiVersion, kind: "HelmOp", metadata: refOf(name), spec }),
    change: (name, spec) => hub.patch(helmOps, refOf(name), { type: "merge", body: { spec } }),
    async replaceSpec(name, spec) {
      const body = [{ op: "replace", path: "/spec", value: spec }];
      await hub.patch(helmOps, refOf(name), { type: "json", body });
    },
    that,
    accepted: (name, wanted) =>
      that(name, `told Accepted=${wanted}`, ({ metadata, status }) => {
        const { status: told, observedGeneration } =
          findCondition(status?.conditions, "Accepted") ?? {};
        return told === wanted && observedGeneration === metadata.generation;
      }),
    ready: (name) =>
      that(
        name,
        "ready and accepted",
        (helmOp) =>
          isReady("1.0.0", 1)(helmOp) &&
          findCondition(helmOp.status?.conditions, "Accepted")?.status === "True",
      ),
    deploymentOf,
    recordsOf,
    async runningOf(name) {
      const [bundle, deployment, records] = await Promise.all([
        hub.get(bundles, refOf(name)),
        deploymentOf(name),
        recordsOf(name),
      ]);
      return {
        bundle: bundle && { uid: bundle.metadata.uid, spec: bundle.spec },
        deployment: deployment && { uid: deployment.metadata.uid, spec: deployment.spec },
        records,
      };
    },
  };
}
