/** The identity of a replica of the hub: one URI SAN of its certificate, which is unlike every agent's. Pure. */
import { onlyUri } from "./cluster-identity.ts";

export interface ReplicaIdentity {
  /** The UID of the hub's kube-system namespace. */
  readonly hubId: string;
  /** The name of the replica, any text. */
  readonly replica: string;
}

const prefix = "spiffe://flotilla/";
const pattern = new RegExp(`^${prefix}([A-Za-z0-9-]+)/replica/([A-Za-z0-9_-]+)$`);

/** The name is encoded: it may have characters that no URI has. */
export function formatReplicaIdentity({ hubId, replica }: ReplicaIdentity): string {
  return `${prefix}${hubId}/replica/${Buffer.from(replica).toString("base64url")}`;
}

/** The identity in a certificate's alternative names, as Node lists them; `undefined` for a certificate of anybody else. */
export function replicaInNames(subjectAltName: string | undefined): ReplicaIdentity | undefined {
  const [, hubId, name] = pattern.exec(onlyUri(subjectAltName) ?? "") ?? [];
  if (hubId === undefined || name === undefined) return undefined;
  return { hubId, replica: Buffer.from(name, "base64url").toString() };
}
