/** Whether the statuses on the hub are those of the desired state. Pure. */
import type { Bundle, BundleDeployment, Cluster, Condition, HelmOp } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { DesiredRelease } from "./rollouts.ts";

export interface HubState {
  readonly helmOps: readonly HelmOp[];
  readonly bundles: readonly Bundle[];
  readonly deployments: readonly BundleDeployment[];
  readonly clusters: readonly Cluster[];
}

/** The differences, one sentence each. */
export function auditStatus(
  { helmOps, bundles, deployments, clusters }: HubState,
  desired: readonly DesiredRelease[],
): readonly string[] {
  const differences: string[] = [];
  const add = (object: KubeObject, what: string) =>
    void differences.push(
      `${object.kind ?? ""} ${object.metadata.namespace}/${object.metadata.name} ${what}`,
    );
  const names = desired.map(({ name }) => name).toSorted();
  const all = `${clusters.length}/${clusters.length}`;

  for (const [what, found] of [
    ["HelmOps", helmOps],
    ["Bundles", bundles],
  ] as const) {
    const there = found.map(({ metadata }) => metadata.name).toSorted();
    if (there.join() !== names.join()) differences.push(`there are the ${what} ${there.join()}`);
  }
  if (deployments.length !== names.length * clusters.length)
    differences.push(`there are ${deployments.length} BundleDeployments`);

  for (const object of [...helmOps, ...bundles, ...deployments, ...clusters])
    for (const what of auditConditions(object)) add(object, what);

  for (const helmOp of helmOps) {
    const { status } = helmOp;
    const { version } = desired.find(({ name }) => name === helmOp.metadata.name) ?? {};
    if (status?.version !== version) add(helmOp, `has version ${status?.version}, not ${version}`);
    if (status?.display?.readyBundleDeployments !== all)
      add(helmOp, `shows ${status?.display?.readyBundleDeployments}, not ${all}`);
    if (status?.readyClusters !== clusters.length)
      add(helmOp, `counts ${status?.readyClusters} ready clusters`);
  }
  for (const bundle of bundles) {
    if (bundle.status?.display?.readyClusters !== all)
      add(bundle, `shows ${bundle.status?.display?.readyClusters}, not ${all}`);
    if (bundle.status?.unavailable) add(bundle, `counts ${bundle.status.unavailable} unavailable`);
  }
  for (const deployment of deployments) {
    const { spec, status } = deployment;
    if (spec.deploymentID !== spec.stagedDeploymentID) add(deployment, "is not rolled out");
    if (status?.appliedDeploymentID !== spec.deploymentID) add(deployment, "has not applied it");
    if (status?.ready !== true) add(deployment, "is not ready");
  }
  for (const cluster of clusters) {
    const { status } = cluster;
    if (status?.agent?.connected !== true) add(cluster, "is not connected");
    if ((status?.orphans ?? []).length > 0) add(cluster, `has orphans ${status?.orphans?.join()}`);
    const { desiredReady, ready } = status?.summary ?? {};
    if (desiredReady !== names.length || ready !== names.length)
      add(cluster, `counts ${ready}/${desiredReady} ready`);
  }
  return differences;
}

/** The conditions that are of an error or of work in progress. */
const isFalseWhenWell: ReadonlySet<string> = new Set(["Reconciling", "Stalled"]);

/** Every condition is as it is where all is well, and of the present generation. */
function auditConditions(object: KubeObject & { readonly status?: StatusLike }): readonly string[] {
  const { status, metadata } = object;
  const conditions = status?.conditions ?? [];
  const ready = findCondition(conditions, "Ready");
  return [
    ...(ready === undefined ? ["has no Ready condition"] : []),
    ...conditions.flatMap((condition) => {
      const { type, observedGeneration, message = "" } = condition;
      if (condition.status !== (isFalseWhenWell.has(type) ? "False" : "True"))
        return [`is ${type}=${condition.status}: ${message}`];
      return observedGeneration !== undefined && observedGeneration !== metadata.generation
        ? [`has ${type} of generation ${observedGeneration}, it is ${metadata.generation}`]
        : [];
    }),
    ...(status?.observedGeneration !== undefined &&
    status.observedGeneration !== metadata.generation
      ? [`speaks of generation ${status.observedGeneration}, it is ${metadata.generation}`]
      : []),
  ];
}

interface StatusLike {
  readonly conditions?: readonly Condition[] | undefined;
  readonly observedGeneration?: number | null | undefined;
}
