/** One object of each kind, and the line that `kubectl get` has for it. */

export interface PrintedObject {
  readonly resource: string;
  readonly namespace: string;
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly spec: object;
  };
  readonly status: object;
  readonly header: RegExp;
  readonly row: RegExp;
}

const conditions = [
  { type: "Accepted", status: "True" },
  { type: "Ready", status: "False", reason: "NotReady", message: "NotReady(1)" },
];

export const printedObjects: readonly PrintedObject[] = [
  show("helmops", "HelmOp", {
    spec: { helm: { repo: "https://charts.example.org", chart: "web" } },
    status: { version: "1.4.2", display: { readyBundleDeployments: "2/3" }, conditions },
    header: /^NAME\s+REPO\s+CHART\s+VERSION\s+BUNDLEDEPLOYMENTS-READY\s+STATE\s+STATUS$/,
    row: /^shown\s+https:\/\/charts\.example\.org\s+web\s+1\.4\.2\s+2\/3\s+NotReady\s+NotReady\(1\)$/,
  }),
  show("bundles", "Bundle", {
    spec: { helm: { version: "1.4.x" } },
    status: { version: "1.4.2", display: { readyClusters: "2/3" }, conditions },
    header: /^NAME\s+VERSION\s+BUNDLEDEPLOYMENTS-READY\s+STATE\s+STATUS$/,
    row: /^shown\s+1\.4\.2\s+2\/3\s+NotReady\s+NotReady\(1\)$/,
  }),
  show("bundledeployments", "BundleDeployment", {
    spec: { deploymentID: "sha256:0a", stagedDeploymentID: "sha256:0a" },
    status: {
      version: "1.4.2",
      display: { deployed: "True", monitored: "True", state: "NotReady" },
      agent: { epoch: 3, sequence: 14 },
      conditions,
    },
    header: /^NAME\s+VERSION\s+DEPLOYED\s+MONITORED\s+STATUS$/,
    row: /^shown\s+1\.4\.2\s+True\s+True\s+NotReady\(1\)$/,
  }),
  show("clusters", "Cluster", {
    spec: {},
    status: {
      namespace: "cluster-fleet-default-shown",
      display: { readyBundles: "4/5" },
      agent: { connected: true, lastSeen: "2026-03-01T10:00:00Z", epoch: 3, replica: "hub-0" },
      conditions,
    },
    header: /^NAME\s+BUNDLES-READY\s+LAST-SEEN\s+STATUS$/,
    row: /^shown\s+4\/5\s+2026-03-01T10:00:00Z\s+NotReady\(1\)$/,
  }),
  show("clustergroups", "ClusterGroup", {
    spec: { selector: { matchLabels: { stage: "trial" } } },
    status: { display: { readyClusters: "1/2", readyBundles: "4/5" }, conditions },
    header: /^NAME\s+CLUSTERS-READY\s+BUNDLES-READY\s+STATUS$/,
    row: /^shown\s+1\/2\s+4\/5\s+NotReady\(1\)$/,
  }),
  show("clusterregistrationtokens", "ClusterRegistrationToken", {
    spec: { ttl: "24h" },
    status: { secretName: "shown", expires: "2026-03-02T10:00:00Z", uses: 2 },
    header: /^NAME\s+SECRET-NAME\s+USES\s+EXPIRES$/,
    row: /^shown\s+shown\s+2\s+2026-03-02T10:00:00Z$/,
  }),
  show("schedules", "Schedule", {
    spec: { schedule: "0 0 22 * * ?", duration: "4h" },
    status: { active: true, nextStartTime: "2026-03-02T22:00:00Z" },
    header: /^NAME\s+SCHEDULE\s+DURATION\s+ACTIVE\s+NEXTSTART$/,
    row: /^shown\s+0 0 22 \* \* \?\s+4h\s+true\s+2026-03-02T22:00:00Z$/,
  }),
  show("bundlerollouts", "BundleRollout", {
    apiVersion: "flotilla.dev/v1alpha1",
    spec: {
      bundle: { name: "web", uid: "9e1c6a2e-0000-4000-8000-000000000001" },
      app: { kind: "HelmOp", name: "web" },
      number: 7,
      revision: "sha256:00",
      version: "1.4.2",
      targets: [],
      signature: "00",
    },
    status: {
      phase: "Waiting",
      stage: "prod",
      display: { done: "88/500" },
      since: "2026-03-01T10:00:00Z",
    },
    header: /^NAME\s+APP\s+VERSION\s+PHASE\s+STAGE\s+DONE\s+SINCE$/,
    row: /^shown\s+web\s+1\.4\.2\s+Waiting\s+prod\s+88\/500\s+\S+$/,
  }),
];

interface Shown extends Pick<PrintedObject, "status" | "header" | "row"> {
  readonly apiVersion?: string;
  readonly spec: object;
}

function show(
  resource: string,
  kind: string,
  { apiVersion = "fleet.cattle.io/v1alpha1", spec, ...rest }: Shown,
): PrintedObject {
  const namespace = "fleet-default";
  return {
    resource,
    namespace,
    object: {
      apiVersion,
      kind,
      metadata: { name: "shown", namespace },
      spec,
    },
    ...rest,
  };
}
