/** What others have put into the namespace of a Cluster: it would be deleted with it. */
import { bundles } from "@flotilla/shared/api";
import { appDefinition, appKinds } from "@flotilla/shared/api/apps";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { isForeign } from "../../base/index.ts";

const ofKubernetes: readonly (readonly [group: string, kind: string, plural: string])[] = [
  ["", "Pod", "pods"],
  ["", "Service", "services"],
  ["", "PersistentVolumeClaim", "persistentvolumeclaims"],
  ["", "ServiceAccount", "serviceaccounts"],
  ["apps", "Deployment", "deployments"],
  ["apps", "StatefulSet", "statefulsets"],
  ["apps", "DaemonSet", "daemonsets"],
  ["batch", "Job", "jobs"],
  ["batch", "CronJob", "cronjobs"],
  ["networking.k8s.io", "Ingress", "ingresses"],
  ["networking.k8s.io", "NetworkPolicy", "networkpolicies"],
  ["rbac.authorization.k8s.io", "Role", "roles"],
  ["rbac.authorization.k8s.io", "RoleBinding", "rolebindings"],
];

/** Apps of the hub's own API group, whose kinds always exist. */
const ownApps = appKinds
  .map((kind) => appDefinition(kind).resource)
  .filter(({ group }) => group === bundles.group);

/** What somebody writes. Of custom resources the hub may read its own alone. */
const kinds: readonly Resource<KubeObject>[] = [
  ...[configMaps, secrets, ...ownApps],
  ...ofKubernetes.map(([group, kind, plural]) => ({
    group,
    kind,
    plural,
    version: "v1",
    namespaced: true,
  })),
];

/** Kubernetes makes it in every namespace. */
const everywhere = "ServiceAccount default";

/** `KIND NAME` of each. */
export async function foreignObjectsIn(
  rest: Pick<KubeRest, "list">,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lists = await Promise.all(
    kinds.map(async (resource) => {
      const { items } = await rest.list(resource, { namespace, signal });
      return items.filter(isForeign).map(({ metadata }) => `${resource.kind} ${metadata.name}`);
    }),
  );
  return lists.flat().filter((name) => name !== everywhere);
}
