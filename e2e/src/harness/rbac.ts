/** Roles and bindings, and service accounts that the agent impersonates. */
import { agentNamespace } from "@flotilla/shared/api/names";
import {
  type KubeObject,
  type ObjectRef,
  type Resource,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "./cluster-client.ts";

interface Binding extends KubeObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly {
    readonly kind: string;
    /** The namespace of a service account. */
    readonly namespace?: string;
    readonly name: string;
  }[];
}

interface ClusterRole extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

export const roleBindings: Resource<Binding> = {
  ...rbac,
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

export const clusterRoles: Resource<ClusterRole> = {
  ...rbac,
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};

export const clusterRoleBindings: Resource<Binding> = {
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};

/** Where a service account is that the agent impersonates. */
export function accountRef(name: string): Required<ObjectRef> {
  return { namespace: agentNamespace, name };
}

/** What a binding of a ClusterRole to such an account has beside its metadata. */
export function clusterRoleFor(
  role: string,
  account: string,
): Pick<Binding, "roleRef" | "subjects"> {
  return {
    roleRef: { apiGroup: rbac.group, kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", ...accountRef(account) }],
  };
}

/** Creates an account that may do everything in the cluster. */
export async function createAdmin(client: ClusterClient, name: string): Promise<void> {
  await client.create(clusterRoleBindings, {
    metadata: { name },
    ...clusterRoleFor("cluster-admin", name),
  });
  await client.create(serviceAccounts, { metadata: accountRef(name) });
}
