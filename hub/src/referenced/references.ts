/** The references of BundleDeployments to Secrets and ConfigMaps of their workspace. */
import type { SupplyRef } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { refOf } from "@flotilla/shared/kube/objects/object.ts";
import { parseSupplyKey } from "@flotilla/shared/supply/supply.ts";
import { suppliesNamedBy } from "../cache/indexes.ts";
import { clusterKeyOf } from "../cache/keys.ts";
import type { WorkspaceObjects } from "./workspace-objects.ts";

/** The references that a change of a BundleDeployment adds and drops. */
export function changedReferences(
  before: BundleDeployment | undefined,
  after: BundleDeployment | undefined,
): { readonly added: readonly SupplyRef[]; readonly dropped: readonly SupplyRef[] } {
  const [was, is] = [before, after].map((one) => (one === undefined ? [] : suppliesNamedBy(one)));
  const without = (keys: readonly string[] = [], others: readonly string[] = []) =>
    keys.filter((key) => !others.includes(key)).flatMap((key) => parseSupplyKey(key) ?? []);
  return { added: without(is, was), dropped: without(was, is) };
}

/** Keeps every referenced object watched. To be called before the informer runs; returns the function that stops it. */
export function watchReferences(
  deployments: Pick<Informer<BundleDeployment>, "onChange">,
  objects: Pick<WorkspaceObjects, "watch" | "unwatch">,
): () => void {
  return deployments.onChange(({ before, after }) => {
    const { added, dropped } = changedReferences(before, after);
    for (const ref of added) objects.watch(workspaceOf(after), ref);
    for (const ref of dropped) objects.unwatch(workspaceOf(before), ref);
  });
}

function workspaceOf(deployment: BundleDeployment | undefined): string {
  return deployment === undefined ? "" : (refOf(clusterKeyOf(deployment)).namespace ?? "");
}
