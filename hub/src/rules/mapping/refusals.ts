/**
 * What the Policies of another namespace have against a Bundle that a BundleNamespaceMapping brings to its Clusters. There it is
 * refused, and nowhere else: who writes Policies in one namespace stops no deployments of others.
 */
import type { Bundle } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import { allowedNamespacesViolation } from "../policy/allowed-namespaces.ts";
import type { PolicyDeps } from "../policy/judge.ts";
import { forbidsNamespaces, policiesIn } from "../policy/merge-policies.ts";
import { usedBy } from "../policy/used.ts";
import { namespaceCreationViolation, violationOf } from "../policy/violation.ts";

/** Undefined: it may be deployed there. `spec`: as it is deployed. */
export function refusalIn(
  deps: PolicyDeps,
  namespace: string,
  release: PlannedRelease,
  spec: Bundle["spec"],
): AppError | undefined {
  const policies = policiesIn(deps.policies, [namespace], deps);
  const used = usedBy(release);
  return (
    allowedNamespacesViolation(deps.policies, namespace, used.namespace) ??
    violationOf(policies, used, deps.patterns) ??
    policies
      .filter((policy) => forbidsNamespaces([policy]) && createsNamespaces(spec))
      .map((policy) => namespaceCreationViolation(policy, used))[0]
  );
}

function createsNamespaces({ createNamespace, targets }: Bundle["spec"]): boolean {
  return (
    createNamespace !== false || (targets ?? []).some((target) => target.createNamespace === true)
  );
}
