/** Who an agent is, and how its certificate says so: one URI, made and read here alone. Pure. */

export interface ClusterIdentity {
  /** The UID of the hub's kube-system namespace. */
  readonly hubId: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the Cluster: one that was made anew under the same name is another one. */
  readonly uid: string;
}

const prefix = "spiffe://flotilla/";

// What names and UIDs of Kubernetes objects are made of. Nothing that could end a segment, or an entry of the list of
// names that Node makes of a certificate.
const segment = "[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?";
const pattern = new RegExp(
  `^${prefix}(${segment})/cluster/(${segment})/(${segment})/(${segment})$`,
);

export function formatIdentity({ hubId, namespace, name, uid }: ClusterIdentity): string {
  return `${prefix}${hubId}/cluster/${namespace}/${name}/${uid}`;
}

/** `undefined` for anything that `formatIdentity` does not make. */
export function parseIdentity(uri: string): ClusterIdentity | undefined {
  const [, hubId, namespace, name, uid] = pattern.exec(uri) ?? [];
  if (hubId === undefined || namespace === undefined || name === undefined || uid === undefined) {
    return undefined;
  }
  return { hubId, namespace, name, uid };
}

/** The identity in a certificate's alternative names as Node lists them; `undefined` unless there is exactly one. */
export function identityInNames(subjectAltName: string | undefined): ClusterIdentity | undefined {
  const uris = (subjectAltName ?? "").split(", ").filter((name) => name.startsWith("URI:"));
  const [uri] = uris;
  return uri === undefined || uris.length > 1 ? undefined : parseIdentity(uri.slice("URI:".length));
}
