/** Has followed what the BundleDeployments of all clusters name. */
import type { ObjectRef } from "@flotilla/proto/messages.ts";
import { type BundleDeployment, parseObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { defineIndex } from "@flotilla/shared/kube/cache/object-index.ts";
import { refOf } from "@flotilla/shared/kube/objects/object.ts";
import { clusterKeyOf } from "../deploy/deployment-cluster.ts";
import type { WorkspaceObjects } from "./workspace-objects.ts";

/** BundleDeployments by the keys of the objects that they refer to, in any workspace. */
export const bySupply = defineIndex<BundleDeployment>("supply", suppliesNamedBy);

export function suppliesNamedBy({ spec }: BundleDeployment): readonly string[] {
  return spec.referencedObjects ?? [];
}

/** What comes to be named, and what is not named any more, by a change of a BundleDeployment. */
export function changedSupplies(
  before: BundleDeployment | undefined,
  after: BundleDeployment | undefined,
): { readonly added: readonly ObjectRef[]; readonly dropped: readonly ObjectRef[] } {
  const [was, is] = [before, after].map((one) => (one === undefined ? [] : suppliesNamedBy(one)));
  const others = (some: readonly string[] = [], than: readonly string[] = []) =>
    some.filter((key) => !than.includes(key)).flatMap((key) => parseObjectRef(key) ?? []);
  return { added: others(is, was), dropped: others(was, is) };
}

/** To be called before the informer runs; gives how to stop. */
export function followNamedByDeployments(
  deployments: Pick<Informer<BundleDeployment>, "onChange">,
  objects: Pick<WorkspaceObjects, "name" | "unname">,
): () => void {
  return deployments.onChange(({ before, after }) => {
    const { added, dropped } = changedSupplies(before, after);
    for (const ref of added) objects.name(workspaceOf(after), ref);
    for (const ref of dropped) objects.unname(workspaceOf(before), ref);
  });
}

function workspaceOf(deployment: BundleDeployment | undefined): string {
  return deployment === undefined ? "" : (refOf(clusterKeyOf(deployment)).namespace ?? "");
}
