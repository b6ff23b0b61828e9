/** Which value of the chart flotilla-agent grants a right to the agent's own account. Pure. */
import { agentNamespace } from "@flotilla/shared/api/names";
import type { GrantOf } from "@flotilla/shared/kube/client";

const chart = "flotilla-agent";

/** `namespaces`: those whose accounts the agent impersonates, if impersonation is required. */
export function agentGrants(namespaces: readonly string[] | undefined): GrantOf {
  return ({ resource, namespace }) => {
    if (resource === "serviceaccounts" && namespace !== undefined && namespace !== agentNamespace)
      return { chart, value: "impersonation.namespaces" };
    const isGranted =
      namespaces === undefined || namespace === agentNamespace || resource === "namespaces";
    return isGranted ? { chart, value: "rbac.create" } : undefined;
  };
}
