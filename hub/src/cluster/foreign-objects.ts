/** What others have put into the namespace of a Cluster: it would be deleted with it. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { isForeign } from "../clusterstate/index.ts";

const core = { group: "", version: "v1", namespaced: true } as const;

/** Data, and what runs: each workload has pods. */
const kinds: readonly Resource<KubeObject>[] = [
  configMaps,
  secrets,
  { ...core, kind: "Pod", plural: "pods" },
  { ...core, kind: "Service", plural: "services" },
  { ...core, kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims" },
];

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
  return lists.flat();
}
