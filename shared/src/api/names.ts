/** Names that the product gives and goes by: labels, annotations, finalizers, namespaces, and names made from names. */
import { createHash } from "node:crypto";
import { maxReleaseNameLength } from "./helm-options.ts";

/** On a Bundle, and what is made from it: the HelmOp that it is from. */
export const helmOpLabel = "fleet.cattle.io/fleet-helm-name";
/** On a BundleDeployment: its Bundle. */
export const bundleNameLabel = "fleet.cattle.io/bundle-name";
export const bundleNamespaceLabel = "fleet.cattle.io/bundle-namespace";
/** On a BundleDeployment as a label, on a cluster's namespace as an annotation: the Cluster. */
export const clusterLabel = "fleet.cattle.io/cluster";
export const clusterNamespaceLabel = "fleet.cattle.io/cluster-namespace";
export const clusterAnnotation = "fleet.cattle.io/cluster";
export const clusterNamespaceAnnotation = "fleet.cattle.io/cluster-namespace";
/** On a BundleDeployment: which of several Clusters that had this name one after the other. */
export const clusterUidLabel = "flotilla.dev/cluster-uid";
/** On a HelmOp or a Bundle: whom Rancher let make it; told in logs as `userID`. */
export const createdByUserLabel = "fleet.cattle.io/created-by-user-id";
/** On everything that the hub makes. */
export const managedLabel = "fleet.cattle.io/managed";
/** On the Lease of a replica of the hub, as a label, and as an annotation with the replica's name. */
export const hubReplicaLabel = "flotilla.dev/hub-replica";

/** On a HelmOp: a person asks for its chart to be resolved anew. Any new value is one request; Flux's users know it. */
export const reconcileRequestAnnotation = "reconcile.fluxcd.io/requestedAt";
/** On a HelmOp: a registry told of something new, so its poll is due. Any new value is one request. */
export const pollRequestAnnotation = "flotilla.dev/poll-requested-at";

/** On a registration token and a HelmOp that `flotilla simulate` made: the name of the simulation. */
export const simulatedLabel = "flotilla.dev/simulation";

/** The Secret in the hub's namespace with its certificate authority, and what is noted on it. */
export const authoritySecretName = "flotilla-ca";
/** A person asks for the authority to be rotated. Any new value is one request. */
export const rotationRequestAnnotation = "flotilla.dev/rotation-requested-at";
/** The request that was answered last. */
export const rotationHandledAnnotation = "flotilla.dev/rotation-handled";
/** Where the rotation stands: `steady`, `introducing` or `switched`. */
export const rotationPhaseAnnotation = "flotilla.dev/rotation-phase";
export const rotationSinceAnnotation = "flotilla.dev/rotation-phase-since";
/** How long agents' certificates are good for at most. */
export const certificateLifetimeAnnotation = "flotilla.dev/certificate-lifetime";

export const helmOpFinalizer = "fleet.cattle.io/helmop-finalizer";
export const bundleFinalizer = "fleet.cattle.io/bundle-finalizer";
export const bundleDeploymentFinalizer = "fleet.cattle.io/bundle-deployment-finalizer";
/** On a Cluster that is to be emptied before it goes, and on no other. Fleet's is another one. */
export const clusterFinalizer = "flotilla.dev/cluster-finalizer";

/** On a Cluster: the digest of the key that its agent enrolled with. */
export const agentKeyAnnotation = "flotilla.dev/agent-key";
/** On a Cluster, and on its namespace: the UID of the token that it enrolled with last. */
export const registrationTokenAnnotation = "flotilla.dev/registration-token";
/** On a cluster's namespace: the digest of the cluster's client id, which outlives the Cluster by that much. */
export const clientAnnotation = "flotilla.dev/client";
/** On a Cluster: since when the key that it is enrolled with opens no door any more. RFC 3339. Written by a person. */
export const revokedAtAnnotation = "flotilla.dev/revoked-at";

/** The type of the Secret that an agent enrols with. */
export const registrationSecretType = "fleet.cattle.io/cluster-registration-values";
/** The type of the Secret with the key (`token`) of a webhook. */
export const webhookSecretType = "flotilla/webhook";

/** The workspace that clusters and HelmOps live in unless there are more. */
export const workspaceNamespace = "fleet-default";
/** The workspace of the hub's own cluster. */
export const localNamespace = "fleet-local";
/** Where the hub's own parts are. */
export const hubNamespace = "flotilla-system";
/** Where the agent's own parts are, in its cluster. */
export const agentNamespace = "flotilla-agent";

/** Longest name of a namespace. */
const maxLabelLength = 63;

/** Fleet digests no more than this of a cluster's names. */
const hashedLength = 100;

/** Of so many clusters the namespace is remembered: a Bundle for all asks for each with every change of one. */
const mostRemembered = 20_000;
const remembered = new Map<string, string>();

/** The namespace on the hub that has a cluster's BundleDeployments. Fleet makes the same one. */
export function clusterNamespaceName(clusterNamespace: string, clusterName: string): string {
  const cluster = `${clusterNamespace}/${clusterName}`;
  const known = remembered.get(cluster);
  if (known !== undefined) return known;
  const name = makeClusterNamespaceName(clusterNamespace, clusterName);
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(cluster, name);
  return name;
}

function makeClusterNamespaceName(clusterNamespace: string, clusterName: string): string {
  const key = hex("sha256", `${clusterNamespace}::${clusterName}`.slice(0, hashedLength)).slice(
    0,
    12,
  );
  // A Cluster's name may have dots, a namespace's may not.
  return safeConcat("cluster", clusterNamespace, clusterName.replaceAll(".", "-"), key);
}

/** The release name of a Bundle that names none. Fleet makes the same one. */
export function helmReleaseName(bundleName: string): string {
  const dashed = bundleName.replaceAll("/", "-");
  // What gets lost below is kept as a digest, so that no two Bundles end up with one release.
  const marked = /[^a-z0-9-]/.test(dashed) ? `${dashed}-${hex("md5", dashed).slice(0, 8)}` : dashed;
  const plain = marked
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return plain === "" ? hex("md5", bundleName).slice(0, 24) : limit(plain, maxReleaseNameLength);
}

/** The name of a target that was given none. */
export function targetName(index: number): string {
  return `target${String(index).padStart(3, "0")}`;
}

/** Joins names with `-`; what gets too long for a namespace's name ends in a digest instead. */
function safeConcat(...names: readonly string[]): string {
  const full = names.join("-");
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
