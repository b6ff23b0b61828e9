/** Objects that every hub has: the workspaces `fleet-default` and `fleet-local`, and in the latter the ClusterGroup `default`. */
import { apiVersion, type ClusterGroup, clusterGroups } from "@flotilla/shared/api";
import { hubNamespace, localNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, namespaces, type Resource } from "@flotilla/shared/kube/objects";

/** The namespace of the hub itself; everything else needs it. */
export async function ensureHubNamespace(rest: KubeRest): Promise<void> {
  await ensure(rest, namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: hubNamespace },
  });
}

/** Existing objects are not changed. */
export async function ensureWorkspaces(rest: KubeRest): Promise<void> {
  for (const name of [workspaceNamespace, localNamespace]) {
    await ensure(rest, namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await ensure(rest, clusterGroups, localGroup);
}

/**
 * A HelmOp without targets targets the group `default` of its workspace. As in Fleet that is the hub's own cluster in
 * `fleet-local`; in other workspaces it exists only when a user creates it.
 */
const localGroup: ClusterGroup = {
  apiVersion,
  kind: "ClusterGroup",
  metadata: { namespace: localNamespace, name: "default" },
  spec: { selector: { matchLabels: { name: "local" } } },
};

async function ensure<T extends KubeObject>(
  rest: KubeRest,
  resource: Resource<T>,
  object: T,
): Promise<void> {
  try {
    await rest.create(resource, object);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
}
