/** Names of labels, annotations, finalizers and namespaces, and names that are derived from other names. */
import { createHash } from "node:crypto";

/** Helm's own limit for the name of a release. */
export const maxReleaseNameLength = 53;

/** Lower-case words of letters, digits and `-`, joined by dots. */
export const releaseNamePattern =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** On a BundleDeployment: its Bundle. */
export const bundleNameLabel = "fleet.cattle.io/bundle-name";
export const bundleNamespaceLabel = "fleet.cattle.io/bundle-namespace";
/** On a BundleDeployment as a label, on a cluster's namespace as an annotation: the Cluster. */
export const clusterLabel = "fleet.cattle.io/cluster";
export const clusterNamespaceLabel = "fleet.cattle.io/cluster-namespace";
export const clusterAnnotation = "fleet.cattle.io/cluster";
export const clusterNamespaceAnnotation = "fleet.cattle.io/cluster-namespace";
/** On a BundleDeployment: the UID of the Cluster, which may be deleted and created again under the same name. */
export const clusterUidLabel = "flotilla.dev/cluster-uid";
/** On a HelmOp or a Bundle: the Rancher user who created it; logged as `userID`. */
export const createdByUserLabel = "fleet.cattle.io/created-by-user-id";
/**
 * On objects that Rancher 2.12.0 created: the name of that user, which `createdByUserLabel` has replaced. Removed from Bundles, as
 * in Fleet.
 */
export const createdByNameLabel = "fleet.cattle.io/created-by-display-name";
/** On a Cluster, with any value: another system manages it, and the hub leaves it as it is. As in Fleet. */
export const clusterManagementLabel = "fleet.cattle.io/cluster-management";
/** On a HelmRelease: the name of the RolloutPolicy of its namespace, because Flux's own definitions drop `rolloutStrategy`. */
export const rolloutPolicyAnnotation = "flotilla.dev/rollout-policy";
/** On every object that the hub creates. */
export const managedLabel = "fleet.cattle.io/managed";
/** On the Lease of a replica of the hub, as a label, and as an annotation with the replica's name. */
export const hubReplicaLabel = "flotilla.dev/hub-replica";
/** On the Lease of a replica of the hub: the version that it runs. */
export const hubVersionAnnotation = "flotilla.dev/hub-version";

/** On the Lease of a replica of the hub: `host:port` by which the others reach it. */
export const replicaAddressAnnotation = "flotilla.dev/replica-address";

/** The audience of tokens with which users send requests to the hub: they are valid for nothing else. */
export const requestsAudience = "flotilla-requests";

/** The header with that token. The API server removes `Authorization` from what it passes on to a Service. */
export const tokenHeader = "flotilla-token";
/** On the Lease of a replica: the epoch of the streams whose agents it has kept as connected since its last start. */
export const epochFloorAnnotation = "flotilla.dev/epoch-floor";

/** On objects of `flotilla simulate`: the name of the simulation. */
export const simulatedLabel = "flotilla.dev/simulation";

/** On a BundleDeployment: the UID of the Bundle that it was written for. */
export const bundleUidAnnotation = "flotilla.dev/bundle-uid";
/** On a BundleDeployment: the hub's HMAC over that UID, its namespace, its name, its contents and its references. */
export const deploymentSignatureAnnotation = "flotilla.dev/signature";
/** On the Secret of the hub's signing key: every BundleDeployment has been signed with it, so one without a signature is not the hub's. */
export const deploymentsSignedAnnotation = "flotilla.dev/deployments-signed";

/** The Secret in the hub's namespace with its certificate authority. */
export const authoritySecretName = "flotilla-ca";
/** On that Secret: a request to rotate the authority. Any new value is one request. */
export const rotationRequestAnnotation = "flotilla.dev/rotation-requested-at";
/** The last request that was handled. */
export const rotationHandledAnnotation = "flotilla.dev/rotation-handled";
/** The phase of the rotation: `steady`, `introducing` or `switched`. */
export const rotationPhaseAnnotation = "flotilla.dev/rotation-phase";
export const rotationSinceAnnotation = "flotilla.dev/rotation-phase-since";
/** The longest lifetime of agents' certificates. */
export const certificateLifetimeAnnotation = "flotilla.dev/certificate-lifetime";

/** The Secret in the hub's namespace with the keys that encrypt sessions of the dashboard. */
export const sessionKeysSecretName = "flotilla-session-keys";
/** The type of a Secret in the hub's namespace with a token (`token`) for one login to the dashboard by a code. */
export const loginCodeSecretType = "flotilla/login";

export const bundleDeploymentFinalizer = "fleet.cattle.io/bundle-deployment-finalizer";
/** On a Cluster whose releases are uninstalled before it is deleted, and on no other. Not Fleet's finalizer. */
export const clusterFinalizer = "flotilla.dev/cluster-finalizer";
/** On a Schedule that was Fleet's; we set none. */
export const fleetScheduleFinalizer = "fleet.cattle.io/schedule-finalizer";

/** On a Cluster: the digest of the key that its agent enrolled with. */
export const agentKeyAnnotation = "flotilla.dev/agent-key";
/** On a Cluster and on the cluster namespace: the UID of the token of its last enrolment. */
export const registrationTokenAnnotation = "flotilla.dev/registration-token";
/** On a cluster namespace: the digest of the client id, which is kept while the namespace exists. */
export const clientAnnotation = "flotilla.dev/client";
/** On a Cluster: when the key that it is enrolled with was revoked, RFC 3339. Set by the administrator. */
export const revokedAtAnnotation = "flotilla.dev/revoked-at";

/** The type of the Secret that an agent enrols with. */
export const registrationSecretType = "fleet.cattle.io/cluster-registration-values";
/** The type of the Secret with the key (`token`) of a webhook. */
export const webhookSecretType = "flotilla/webhook";

/** The default workspace of clusters and HelmOps. */
export const workspaceNamespace = "fleet-default";
/** The workspace of the hub's own cluster. */
export const localNamespace = "fleet-local";
/** The namespace of the hub. */
export const hubNamespace = "flotilla-system";
/** The namespace of Rancher, with the certificate authorities that it trusts. */
export const rancherNamespace = "cattle-system";
/** The namespace of Fleet's controllers, in Rancher and without it. */
export const fleetNamespace = "cattle-fleet-system";
/**
 * The Leases of Fleet's controllers: at least one for each Deployment of its chart, also of older versions. The Leases of
 * its shards have other names; they do not run without these.
 */
export const fleetLeaseNames: readonly string[] = [
  "fleet-controller-leader-election-shard",
  "fleet-controller-leader-election",
  "fleet-agentmanagement-lock",
  "fleet-gitops-leader-election-shard",
  "fleet-helmops-leader-election-shard",
];
/** The Leases of Flux's controllers, in whatever namespace they run. */
export const fluxLeaseNames: readonly string[] = [
  "helm-controller-leader-election",
  "source-controller-leader-election",
  "notification-controller-leader-election",
];
/** The namespace of the agent in its cluster. */
export const agentNamespace = "flotilla-agent";
/** The ServiceAccount of the agent, in its namespace, as its chart names it. */
export const agentServiceAccount = "flotilla-agent";
/** The Secrets of the agent in its namespace: its identity, and what it enrols with. */
export const identitySecretName = "flotilla-identity";
export const bootstrapSecretName = "flotilla-bootstrap";

/** Longest name of a namespace. */
const maxLabelLength = 63;

/** Fleet's digest covers this many characters of a cluster's names. */
const hashedLength = 100;

/** Hexadecimal digits of the digest in a shortened name: 96 bits, so that no two names of a fleet are equal. */
const shortenedDigestLength = 24;

/** The size of the cache: a Bundle for all clusters needs the namespace of each with every change. */
const maxCached = 20_000;
const cachedNames = new Map<string, string>();

/**
 * The name that the cluster namespace of a new Cluster gets: the namespace on the hub with the BundleDeployments of a cluster.
 * The same name as in Fleet while that fits into a namespace's name. Fleet shortens a longer one to 20 bits of digest; ours has 96.
 */
export function clusterNamespaceName(clusterNamespace: string, clusterName: string): string {
  const cluster = `${clusterNamespace}/${clusterName}`;
  const known = cachedNames.get(cluster);
  if (known !== undefined) return known;
  const name = makeClusterNamespaceName(clusterNamespace, clusterName);
  if (cachedNames.size >= maxCached) cachedNames.clear();
  cachedNames.set(cluster, name);
  return name;
}

/** Fleet's name, which a Cluster that has it keeps. Differs from `clusterNamespaceName` where it is shortened. */
export function fleetClusterNamespaceName(clusterNamespace: string, clusterName: string): string {
  return safeConcat(fullClusterNamespaceName(clusterNamespace, clusterName));
}

function makeClusterNamespaceName(clusterNamespace: string, clusterName: string): string {
  const full = fullClusterNamespaceName(clusterNamespace, clusterName);
  if (full.length <= maxLabelLength) return full;
  // The digest covers the names as they are: neither has a slash, so no two Clusters have the same text.
  const digest = hex("sha256", `${clusterNamespace}/${clusterName}`);
  const start = full.slice(0, maxLabelLength - shortenedDigestLength - 1).replace(/-+$/, "");
  return `${start}-${digest.slice(0, shortenedDigestLength)}`;
}

function fullClusterNamespaceName(clusterNamespace: string, clusterName: string): string {
  const key = hex("sha256", `${clusterNamespace}::${clusterName}`.slice(0, hashedLength)).slice(
    0,
    12,
  );
  // A Cluster's name may have dots, a namespace's may not.
  return ["cluster", clusterNamespace, clusterName.replaceAll(".", "-"), key].join("-");
}

/** The release name of a Bundle that has none. The same as in Fleet. */
export function helmReleaseName(bundleName: string): string {
  const dashed = bundleName.replaceAll("/", "-");
  // The digest distinguishes names that differ only in the characters removed below.
  const marked = /[^a-z0-9-]/.test(dashed) ? `${dashed}-${hex("md5", dashed).slice(0, 8)}` : dashed;
  const plain = marked
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return plain === "" ? hex("md5", bundleName).slice(0, 24) : limit(plain, maxReleaseNameLength);
}

/** The name of the Bundle that is made for an object of a kind that may have an object of the same name of another kind. */
export function frontEndBundleName(kind: string, name: string): string {
  return hashed(`${kind.toLowerCase()}-${name}`);
}

/**
 * The name of a BundleDeployment: its Bundle's name, with the Bundle's namespace before it if that is not the workspace of
 * the Cluster. No namespace has a dot in its name.
 */
export function deploymentName(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  workspace: string,
): string {
  return namespace === workspace ? name : hashed(`${namespace}.${name}`);
}

/** A label's value; a longer text ends in a digest. */
function hashed(full: string): string {
  if (full.length <= maxLabelLength) return full;
  const start = full.slice(0, maxLabelLength - shortenedDigestLength - 1).replace(/[-.]+$/, "");
  return `${start}-${hex("sha256", full).slice(0, shortenedDigestLength)}`;
}

/** The release name of a HelmRelease that sets none; as in Flux. */
export function fluxReleaseName(name: string, targetNamespace: string | undefined): string {
  return shortReleaseName(targetNamespace ? `${targetNamespace}-${name}` : name);
}

/** A release name as Flux shortens it: 40 characters and 12 digits of a digest if it has more than 53. */
export function shortReleaseName(full: string): string {
  return full.length <= maxReleaseNameLength
    ? full
    : `${full.slice(0, 40)}-${hex("sha256", full).slice(0, 12)}`;
}

/** The name of a target that has none. */
export function targetName(index: number): string {
  return `target${String(index).padStart(3, "0")}`;
}

/** Fleet's way to shorten a name that is too long for a namespace: it ends in a digest. */
function safeConcat(full: string): string {
  if (full.length <= maxLabelLength) return full;
  const digest = hex("sha256", full);
  return /[a-z0-9]/.test(full.charAt(56))
    ? `${full.slice(0, 57)}-${digest.slice(0, 5)}`
    : `${full.slice(0, 56)}-${digest.slice(0, 6)}`;
}

function limit(name: string, length: number): string {
  if (name.length <= length) return name;
  const digestLength = 5;
  return `${name.slice(0, length - digestLength - 1).replace(/-$/, "")}-${hex("md5", name).slice(0, digestLength)}`;
}

function hex(algorithm: "sha256" | "md5", text: string): string {
  return createHash(algorithm).update(text).digest("hex");
}

/** The service account that the chart of the hub creates for requests of administrators: it may read of every workspace. */
export const requestsServiceAccount = `${hubNamespace}/flotilla-requests`;

/** The Secret for a login by a code: its name does not tell the code. */
export function loginCodeSecretName(code: string): string {
  return `flotilla-login-${createHash("sha256").update(code).digest("hex").slice(0, 40)}`;
}
