/** The objects of a fleet with thousands of clusters, as the caches of a hub have them. Pure. */
import { summaryReady } from "@flotilla/hub/rules";
import {
  apiVersion,
  type Bundle,
  type BundleDeployment,
  type BundleSummary,
  type Cluster,
  type Condition,
  type HelmOp,
} from "@flotilla/shared/api";
import {
  bundleNameLabel,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
  clusterUidLabel,
  helmOpLabel,
  workspaceNamespace,
} from "@flotilla/shared/api/names";

/** The state of a release. */
export type LargeState = "Ready" | "NotReady" | "ErrApplied" | "Modified" | "WaitApplied";

const summaryFields = {
  NotReady: "notReady",
  ErrApplied: "errApplied",
  Modified: "modified",
  WaitApplied: "waitApplied",
} as const;
const regions = ["eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-south-1", "sa-east-1"];
const environments = ["prod", "prod", "prod", "staging", "dev"];
const lastTransitionTime = "2026-01-01T00:00:00Z";
const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

const nameOfCluster = (cluster: number): string => `cluster-${String(cluster).padStart(4, "0")}`;
const nameOfApp = (app: number): string => `app-${String(app).padStart(2, "0")}`;
const namespaceOf = (cluster: number): string =>
  `cluster-${workspaceNamespace}-${nameOfCluster(cluster)}-0123456789ab`;

/** The state of a release at first: one in five apps is not ready in one of twenty of its clusters. */
export function firstState(cluster: number, app: number): LargeState {
  const chance = spread(cluster * 1_000 + app);
  if (app % 5 !== 0 || chance >= 0.05) return "Ready";
  return (["NotReady", "ErrApplied", "Modified", "WaitApplied"] as const)[cluster % 4] ?? "Ready";
}

/** From 0 to 1, always the same one, and without a pattern: a pattern would be compressed too well. */
function spread(index: number): number {
  const mixed = Math.imul(index ^ (index >>> 7), 0x9e3779b1);
  return (Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 0) / 2 ** 32;
}

export function newCluster(
  cluster: number,
  states: readonly LargeState[],
  version: number,
): Cluster {
  const name = nameOfCluster(cluster);
  const summary = summaryOf(states, (app) => `${workspaceNamespace}/${nameOfApp(app)}`);
  const region = regions[Math.floor(spread(cluster) * regions.length)] ?? "";
  return {
    ...{ apiVersion, kind: "Cluster" },
    metadata: {
      ...{ namespace: workspaceNamespace, name, uid: `uid-${name}`, generation: 1 },
      resourceVersion: String(version),
      labels: {
        env: environments[Math.floor(spread(cluster + 1) * environments.length)] ?? "",
        region,
        "topology.kubernetes.io/zone": `${region}${"abc"[cluster % 3]}`,
        tier: `tier-${Math.floor(spread(cluster + 2) * 10)}`,
        "cluster-id": `c-${(cluster * 7_919).toString(36)}`,
      },
    },
    spec: {},
    status: {
      namespace: namespaceOf(cluster),
      conditions: [condition({ type: "Ready", ...summaryReady(summary, "Bundle") })],
      summary,
      agent: {
        connected: cluster % 50 !== 0,
        lastSeen: lastTransitionTime,
        ...{ replica: "hub-0", epoch: 1, version: "0.3.0", namespace: "flotilla-agent" },
      },
      display: { readyBundles: `${summary.ready}/${summary.desiredReady}` },
    },
  };
}

/** `states`: of its releases, by cluster. */
export function newHelmOp(app: number, states: readonly LargeState[], version: number): HelmOp {
  return {
    ...{ apiVersion, kind: "HelmOp" },
    metadata: metadataOf(app, version),
    spec: helmSpec(app),
    status: statusOf(states),
  };
}

export function newBundle(app: number, states: readonly LargeState[], version: number): Bundle {
  const metadata = metadataOf(app, version);
  return {
    ...{ apiVersion, kind: "Bundle" },
    metadata: { ...metadata, labels: { [helmOpLabel]: metadata.name } },
    spec: helmSpec(app),
    status: { ...statusOf(states), targets: states.length },
  };
}

export function newDeployment(
  { cluster, app }: { readonly cluster: number; readonly app: number },
  state: LargeState,
  version: number,
): BundleDeployment {
  const [name, own] = [nameOfApp(app), nameOfCluster(cluster)];
  const isReady = state === "Ready";
  const status = isReady ? "True" : "False";
  const message = isReady ? "" : messageOf(name);
  const installed = spread(cluster * 1_000 + app + 1) < 0.3 ? `1.${app}.0` : `1.${app}.1`;
  return {
    ...{ apiVersion, kind: "BundleDeployment" },
    metadata: {
      ...{ namespace: namespaceOf(cluster), name, uid: `uid-${own}-${name}`, generation: 1 },
      resourceVersion: String(version),
      labels: {
        [bundleNameLabel]: name,
        [bundleNamespaceLabel]: workspaceNamespace,
        [clusterLabel]: own,
        [clusterNamespaceLabel]: workspaceNamespace,
        [clusterUidLabel]: `uid-${own}`,
      },
    },
    spec: { deploymentID: digest, stagedDeploymentID: digest },
    status: {
      conditions: [
        condition({ type: "Deployed", status: state === "ErrApplied" ? "False" : "True", message }),
        condition({ type: "Ready", status, message }),
      ],
      appliedDeploymentID: isApplied(state) ? digest : "",
      ...{ release: `${name}/${name}:1`, version: installed, chartDigest: digest },
      ...{ ready: state !== "NotReady", nonModified: state !== "Modified" },
      agent: { epoch: 1, sequence: version },
    },
  };
}

function isApplied(state: LargeState): boolean {
  return state !== "ErrApplied" && state !== "WaitApplied";
}

function metadataOf(app: number, version: number) {
  const name = nameOfApp(app);
  return {
    ...{ namespace: workspaceNamespace, name, uid: `uid-${name}`, generation: 1 },
    resourceVersion: String(version),
  };
}

function helmSpec(app: number): Pick<HelmOp["spec"], "helm" | "targets"> {
  const repo = "https://charts.example.com";
  return {
    helm: { repo, chart: nameOfApp(app), version: "1.x" },
    targets: [{ clusterSelector: {} }],
  };
}

function statusOf(states: readonly LargeState[]) {
  const summary = summaryOf(states, (cluster) => `${workspaceNamespace}/${nameOfCluster(cluster)}`);
  return {
    observedGeneration: 1,
    conditions: [condition({ type: "Ready", ...summaryReady(summary, "Cluster") })],
    summary,
  };
}

function summaryOf(
  states: readonly LargeState[],
  nameAt: (index: number) => string,
): BundleSummary {
  const summary = { ready: 0, desiredReady: states.length };
  const counts: Partial<Record<(typeof summaryFields)[keyof typeof summaryFields], number>> = {};
  const nonReadyResources = [];
  for (const [index, state] of states.entries()) {
    if (state === "Ready") {
      summary.ready += 1;
      continue;
    }
    const field = summaryFields[state];
    counts[field] = (counts[field] ?? 0) + 1;
    const name = nameAt(index);
    if (nonReadyResources.length < 10)
      nonReadyResources.push({ name, bundleState: state, message: messageOf(name) });
  }
  return {
    ...summary,
    ...counts,
    ...(nonReadyResources.length > 0 && { nonReadyResources }),
  };
}

function messageOf(name: string): string {
  return `deployment.apps ${name}: 1 of 3 replicas are ready: back-off pulling image "registry.example.com/${name}:1"`;
}

function condition(own: Pick<Condition, "type" | "status" | "reason" | "message">): Condition {
  return { lastTransitionTime, observedGeneration: 1, ...own };
}
