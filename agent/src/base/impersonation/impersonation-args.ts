/** How a service account is impersonated, by requests of the agent and by Helm. Pure. */
import type { Impersonation } from "@flotilla/shared/kube/client";
import type { ServiceAccountRef } from "./account-choice.ts";

const flag = "--kube-as-user=";

/** Without groups: the API server adds the service account's, and the agent needs no right to impersonate groups. */
export function serviceAccountImpersonation({ namespace, name }: ServiceAccountRef): Impersonation {
  return { user: `system:serviceaccount:${namespace}:${name}`, groups: [] };
}

/** Helm then sends all its requests as that account, those for its release Secrets included. */
export function impersonationArgs({ user }: Impersonation): readonly string[] {
  return [`${flag}${user}`];
}

/** The user that a run of Helm impersonates, if any. */
export function impersonatedUser(args: readonly string[]): string | undefined {
  return args.find((arg) => arg.startsWith(flag))?.slice(flag.length);
}
