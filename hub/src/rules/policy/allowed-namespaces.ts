/** Which namespaces' Bundles the Policies of a namespace let onto its Clusters. Pure. */
import type { Policy } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { listNames } from "@flotilla/shared/text";
import { hubErrors } from "../../base/index.ts";

/** Whether Bundles of `from` are kept off the Clusters of `namespace`. Its own never are; lists of several Policies are joined. */
export function allowedNamespacesViolation(
  policies: Pick<Store<Policy>, "byIndex">,
  namespace: string,
  from: string,
): AppError | undefined {
  if (from === namespace) return undefined;
  const restricting = policies
    .byIndex(byNamespace, namespace)
    .filter(({ allowedBundleNamespaces }) => (allowedBundleNamespaces ?? []).length > 0);
  const allowed = restricting.flatMap(
    ({ allowedBundleNamespaces }) => allowedBundleNamespaces ?? [],
  );
  if (restricting.length === 0 || allowed.includes(from)) return undefined;
  const names = restricting.map(({ metadata }) => `${namespace}/${metadata.name}`).toSorted();
  return new AppError(
    hubErrors.POLICY_VIOLATION,
    `disallowed namespace ${from}: Bundles of it are not deployed to Clusters of namespace ${namespace}, only Bundles of [${listNames(allowed)}] are (${names.length === 1 ? "Policy" : "Policies"} ${listNames(names)}); what is deployed stays as it is until allowedBundleNamespaces has ${from}, or no BundleNamespaceMapping selects ${namespace}`,
  );
}
