/** As whom, and where, the agent watches what its deployments have in the cluster. */
import type { KubeRest } from "@flotilla/shared/kube/client";

export interface WatchClient {
  /** For messages, and to share watches: clients of the same subject have the same rights. */
  readonly subject: string;
  readonly rest: KubeRest;
  /** The account may have rights in single namespaces only, so each is watched by itself. */
  readonly isPerNamespace: boolean;
}

/** The namespace of a watch; undefined: all. */
export function watchedNamespace(
  { isPerNamespace }: WatchClient,
  namespace: string | undefined,
): string | undefined {
  return isPerNamespace ? namespace : undefined;
}

/** Watches with the same key see the same. */
export function watchKey(client: WatchClient, namespace: string | undefined): string {
  return `${client.subject} ${watchedNamespace(client, namespace) ?? ""}`;
}
