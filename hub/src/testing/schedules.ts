/** A Schedule with the given fields: by default of every cluster, and open from 22:00 to 23:00 UTC. */
import { apiVersion, type Schedule } from "@flotilla/shared/api";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { workspace } from "./objects.ts";

export function aSchedule(
  name: string,
  spec: Schedule["spec"] = {},
  metadata: Partial<ObjectMeta> = {},
): Schedule {
  return {
    apiVersion,
    kind: "Schedule",
    metadata: { name, namespace: workspace, uid: `uid-${name}`, generation: 1, ...metadata },
    spec: {
      schedule: "0 0 22 * * ?",
      duration: "1h",
      targets: { clusters: [{ clusterSelector: {} }] },
      ...spec,
    },
  };
}
