/** What acting as a service account comes to: in requests of our own and in Helm's arguments. Pure. */
import type { Impersonation } from "@flotilla/shared/kube/client/kubeconfig.ts";

/** As the API server knows a service account that presents its own token. */
export function impersonationOf(namespace: string, name: string): Impersonation {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: [
      "system:serviceaccounts",
      `system:serviceaccounts:${namespace}`,
      "system:authenticated",
    ],
  };
}

/** Helm then does all that it does as that one, what it stores of a release included. */
export function helmArgsFor({ user, groups }: Impersonation): readonly string[] {
  return [`--kube-as-user=${user}`, ...groups.map((group) => `--kube-as-group=${group}`)];
}
