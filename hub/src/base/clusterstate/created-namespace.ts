/**
 * Who created an object, by what the API server records: its `managedFields`. Labels and annotations say nothing, because the hub and users
 * set them on objects that existed before. Pure.
 */
import type { KubeObject, Namespace } from "@flotilla/shared/kube/objects";
import * as z from "zod";

/** The hub, by the name of its program, and Fleet's hub, whose namespaces it takes over. */
const hubs = ["flotilla-hub", "fleetcontroller"];

/** Controllers that fill every namespace. */
const system = ["kube-controller-manager", "kube-apiserver"];

/** The API server sets the label when the namespace is created, in the name of who creates it. */
const createdSchema = z.object({
  "f:metadata": z.object({
    "f:labels": z.object({ "f:kubernetes.io/metadata.name": z.unknown().nonoptional() }),
  }),
});

/** Whether a hub has created the namespace, and not only labelled it. */
export function isCreatedByHub({ metadata }: Namespace): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager = "", fieldsV1 }) =>
      hubs.includes(manager) && createdSchema.safeParse(fieldsV1).success,
  );
}

/** Whether somebody other than a hub or Kubernetes has made or changed the object. */
export function isForeign({ metadata }: KubeObject): boolean {
  const managers = (metadata.managedFields ?? []).map(({ manager = "" }) => manager);
  return managers.length === 0 || managers.some((each) => ![...hubs, ...system].includes(each));
}
