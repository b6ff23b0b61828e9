/**
 * The arguments of the control plane components. Pure. Features without use on one machine (leader election, secure ports,
 * profiling) are off, so that a cluster is small and starts fast.
 */
import { join } from "node:path";

/** Folders and ports of one control plane. */
export interface ControlPlaneLayout {
  readonly pkiDir: string;
  readonly etcdDir: string;
  readonly apiPort: number;
  readonly etcdPort: number;
}

export function etcdArguments(layout: ControlPlaneLayout): readonly string[] {
  const pki = (name: string): string => join(layout.pkiDir, name);
  const client = `https://127.0.0.1:${layout.etcdPort}`;
  // A single member never connects to its peer address: listen on any port, advertise an unused one.
  const peer = "https://127.0.0.1:1";
  return [
    "--name=etcd",
    `--data-dir=${layout.etcdDir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    // A port of its own for what is not gRPC, which nothing uses: on one port gRPC goes through the slower HTTP server of Go.
    "--listen-client-http-urls=https://127.0.0.1:0",
    "--enable-grpc-gateway=false",
    "--listen-peer-urls=https://127.0.0.1:0",
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd=${peer}`,
    `--cert-file=${pki("etcd.crt")}`,
    `--key-file=${pki("etcd.key")}`,
    `--trusted-ca-file=${pki("etcd-ca.crt")}`,
    "--client-cert-auth",
    `--peer-cert-file=${pki("etcd.crt")}`,
    `--peer-key-file=${pki("etcd.key")}`,
    `--peer-trusted-ca-file=${pki("etcd-ca.crt")}`,
    "--peer-client-cert-auth",
    // A single member has nobody to send heartbeats to, and counts the time by them: by default ten times in a second.
    "--heartbeat-interval=500",
    "--election-timeout=5000",
    // Only a crash of the machine loses data, not a crash of etcd.
    "--unsafe-no-fsync",
    "--log-level=warn",
    "--snapshot-count=5000",
    "--quota-backend-bytes=4294967296",
  ];
}

export function apiServerArguments(layout: ControlPlaneLayout): readonly string[] {
  const pki = (name: string): string => join(layout.pkiDir, name);
  return [
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${layout.apiPort}`,
    // A restart on the same port must not wait until old connections time out.
    "--permit-address-sharing",
    `--etcd-servers=https://127.0.0.1:${layout.etcdPort}`,
    `--etcd-cafile=${pki("etcd-ca.crt")}`,
    `--etcd-certfile=${pki("etcd-client.crt")}`,
    `--etcd-keyfile=${pki("etcd-client.key")}`,
    `--tls-cert-file=${pki("apiserver.crt")}`,
    `--tls-private-key-file=${pki("apiserver.key")}`,
    `--client-ca-file=${pki("ca.crt")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${pki("service-accounts.pub")}`,
    `--service-account-signing-key-file=${pki("service-accounts.key")}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--authorization-mode=Node,RBAC",
    // For the logs of pods, which the pod runner serves.
    `--kubelet-client-certificate=${pki("admin.crt")}`,
    `--kubelet-client-key=${pki("admin.key")}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--endpoint-reconciler-type=none",
    "--allow-privileged=true",
    "--profiling=false",
    // Priority and fairness costs 0.8 s at every start and has no use for one user; disable all limits.
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
    // These metrics are not used, but ask etcd: the first every 30 s by a new connection, the second once a minute for each resource.
    "--etcd-db-metric-poll-interval=0",
    "--etcd-count-metric-poll-period=0",
    // A single API server needs no identity Lease, which it would renew every 10 s.
    "--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false",
  ];
}

export function controllerManagerArguments(
  layout: ControlPlaneLayout,
  kubeconfig: string,
): readonly string[] {
  const pki = (name: string): string => join(layout.pkiDir, name);
  return [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--profiling=false",
    `--controllers=${["*", ...disabledControllers.map((name) => `-${name}`)].join(",")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--service-account-private-key-file=${pki("service-accounts.key")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    "--enable-hostpath-provisioner",
    // Otherwise a terminating namespace is requeued only after half of the longest grace period of its pods.
    "--namespace-sync-period=2s",
    // A machine that was asleep wakes with heartbeats of before; nothing is wrong with a fake node.
    "--node-monitor-grace-period=24h",
    // The default client-side rate limits protect a shared API server.
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
  ];
}

/** Controllers that are for clouds, kubelets or several API servers. */
const disabledControllers = [
  "cloud-node-lifecycle-controller",
  "device-taint-eviction-controller",
  "kube-apiserver-serving-clustertrustbundle-publisher-controller",
  "legacy-serviceaccount-token-cleaner-controller",
  "node-ipam-controller",
  "node-route-controller",
  "persistentvolume-attach-detach-controller",
  "podcertificaterequest-cleaner-controller",
  "resourceclaim-controller",
  "resourcepoolstatusrequest-controller",
  "service-lb-controller",
  "storage-version-migrator-controller",
  "storageversion-garbage-collector-controller",
  "ttl-controller",
] as const;

export function schedulerArguments(configFile: string): readonly string[] {
  return [`--config=${configFile}`, "--secure-port=0"];
}

export function kwokArguments(kubeconfig: string, configFile: string): readonly string[] {
  return [`--kubeconfig=${kubeconfig}`, `--config=${configFile}`, "--v=WARN"];
}
