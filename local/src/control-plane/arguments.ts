/**
 * The command lines of the parts of a control plane. Pure: a cluster's folder and ports in, arguments out. What is not
 * useful on one machine (leader election, own HTTPS ports, profiling) is off, so that a cluster is small and up fast.
 */
import { join } from "node:path";

/** Where one cluster is: its folders and its two ports. */
export interface ClusterPlace {
  readonly pkiDir: string;
  readonly etcdDir: string;
  readonly apiPort: number;
  readonly etcdPort: number;
}

export function etcdArguments(place: ClusterPlace): readonly string[] {
  const pki = (name: string): string => join(place.pkiDir, name);
  const client = `https://127.0.0.1:${place.etcdPort}`;
  // One member never calls its own peer address; port 0 listens anywhere and port 1 says so.
  const peer = "https://127.0.0.1:1";
  return [
    "--name=etcd",
    `--data-dir=${place.etcdDir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
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
    // A crash of the machine may lose this data; a crash of etcd does not.
    "--unsafe-no-fsync",
    "--log-level=warn",
    "--snapshot-count=5000",
    "--quota-backend-bytes=4294967296",
  ];
}

export function apiServerArguments(place: ClusterPlace): readonly string[] {
  const pki = (name: string): string => join(place.pkiDir, name);
  return [
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${place.apiPort}`,
    // A restart on the same port must not wait for connections of the one before to time out.
    "--permit-address-sharing",
    `--etcd-servers=https://127.0.0.1:${place.etcdPort}`,
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
    "--endpoint-reconciler-type=none",
    "--allow-privileged=true",
    "--profiling=false",
    // Fair queueing costs 0.8 s at every start and shares one machine among nobody: no limit instead.
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
    // A metric nobody reads here, for which a connection to etcd is made every half minute.
    "--etcd-db-metric-poll-interval=0",
    // One API server needs no Lease of its own, renewed every ten seconds, to find the others.
    "--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false",
  ];
}

export function controllerManagerArguments(
  place: ClusterPlace,
  kubeconfig: string,
): readonly string[] {
  const pki = (name: string): string => join(place.pkiDir, name);
  return [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--profiling=false",
    `--controllers=${["*", ...uselessControllers.map((name) => `-${name}`)].join(",")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--service-account-private-key-file=${pki("service-accounts.key")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    "--enable-hostpath-provisioner",
    // A namespace is looked at again only after half of the longest grace period of its pods, unless it is told again.
    "--namespace-sync-period=2s",
    // The defaults are for a shared API server; here nobody else is slowed down.
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
  ];
}

/** Controllers that have nothing to do without clouds, kubelets or several API servers. */
const uselessControllers = [
  "cloud-node-lifecycle-controller",
  "device-taint-eviction-controller",
  "kube-apiserver-serving-clustertrustbundle-publisher-controller",
  "legacy-serviceaccount-token-cleaner-controller",
  "node-ipam-controller",
  "node-route-controller",
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
