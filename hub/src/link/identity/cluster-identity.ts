/** The identities of hub and agents. An agent's is one URI SAN of its certificate, formatted and parsed here alone. */

import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { namespaces } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";

export interface ClusterIdentity {
  /** The UID of the hub's kube-system namespace. */
  readonly hubId: string;
  readonly namespace: string;
  readonly name: string;
  /** The UID of the Cluster: one that is created again under the same name has another. */
  readonly uid: string;
}

/** The Cluster of an authenticated agent. */
export interface ClusterRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The cluster namespace on the hub, which holds its BundleDeployments. */
  readonly deploymentsNamespace: string;
}

const prefix = "spiffe://flotilla/";

// The characters of names and UIDs of Kubernetes objects. None of them ends a segment, or an entry of the list in which
// Node shows a certificate's alternative names.
const segment = "[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?";
const pattern = new RegExp(
  `^${prefix}(${segment})/cluster/(${segment})/(${segment})/(${segment})$`,
);

export function formatIdentity({ hubId, namespace, name, uid }: ClusterIdentity): string {
  return `${prefix}${hubId}/cluster/${namespace}/${name}/${uid}`;
}

/** `undefined` for anything that `formatIdentity` does not return. */
export function parseIdentity(uri: string): ClusterIdentity | undefined {
  const [, hubId, namespace, name, uid] = pattern.exec(uri) ?? [];
  if (hubId === undefined || namespace === undefined || name === undefined || uid === undefined) {
    return undefined;
  }
  return { hubId, namespace, name, uid };
}

/** The identity in a certificate's alternative names, as Node lists them; `undefined` unless there is exactly one URI. */
export function identityInNames(subjectAltName: string | undefined): ClusterIdentity | undefined {
  const uri = onlyUri(subjectAltName);
  return uri === undefined ? undefined : parseIdentity(uri);
}

/** The only URI in a certificate's alternative names, as Node lists them; `undefined` if there is none, or are several. */
export function onlyUri(subjectAltName: string | undefined): string | undefined {
  const uris = (subjectAltName ?? "").split(", ").filter((name) => name.startsWith("URI:"));
  const [uri] = uris;
  return uris.length > 1 ? undefined : uri?.slice("URI:".length);
}

/** The identity of a hub: the UID of its kube-system namespace, which exists exactly as long as the cluster. */
export async function readHubId(rest: KubeRest): Promise<string> {
  const namespace = await rest.get(namespaces, { name: "kube-system" });
  const uid = namespace?.metadata.uid;
  if (uid === undefined || uid === "") {
    throw new AppError(
      hubErrors.HUB_ID_UNKNOWN,
      `the namespace kube-system of ${rest.server} has no UID to identify this hub`,
    );
  }
  return uid;
}
