/** `status.inventory` of a HelmRelease, from the objects that a BundleDeployment lists. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { HelmReleaseStatus } from "@flotilla/shared/flux";

type FluxInventory = NonNullable<HelmReleaseStatus["inventory"]>;

/** Undefined where the BundleDeployment does not list all objects: half an inventory would say that the others are not there. */
export function inventoryOf({ status }: BundleDeployment): FluxInventory | undefined {
  const { resources, resourceCounts } = status ?? {};
  if (!resources || resources.length === 0 || resources.length !== resourceCounts?.desiredReady)
    return undefined;
  return {
    entries: resources
      .map(({ apiVersion = "", kind = "", namespace = "", name = "" }) => {
        const [version = "", group = ""] = apiVersion.split("/").reverse();
        // A colon, as in names of RBAC, is not allowed in an inventory of cli-utils, which Flux's is one of.
        return { id: [namespace, name.replaceAll(":", "__"), group, kind].join("_"), v: version };
      })
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
