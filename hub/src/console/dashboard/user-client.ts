/** Requests to the API server as the user of a session: with their own token, or impersonated where OIDC has logged them in. */

import { unreachable } from "@flotilla/shared/errors";
import {
  connectKube,
  type KubeConfig,
  type KubeConnection,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { checkIdentity } from "../session/identity.ts";
import type { Credentials } from "../session/sessions.ts";

/** Throws IDENTITY_REJECTED before a request as a user, or in a group, that the hub never impersonates. */
export type AsUser = <T>(
  credentials: Credentials,
  work: (rest: KubeRest) => Promise<T>,
) => Promise<T>;

export interface AsUserDeps {
  /** The hub's own kubeconfig, for the address of the API server. */
  readonly kubeconfig: KubeConfig;
  readonly connection: Pick<KubeConnection, "as">;
  readonly userAgent: string;
}

export function createAsUser({ kubeconfig, connection, userAgent }: AsUserDeps): AsUser {
  const { clientCertificate: _, impersonate: __, credentials: ___, ...server } = kubeconfig;
  return async function asUser(credentials, work) {
    switch (credentials.kind) {
      case "impersonation":
        // The hub's right to impersonate has no such limit: RBAC has no prefixes of names.
        checkIdentity(credentials);
        return await work(connection.as({ user: credentials.user, groups: credentials.groups }));
      case "token": {
        // Connections of its own: the hub's may have its client certificate.
        const rest = connectKube({ ...server, credentials }, { userAgent, connections: 1 });
        try {
          return await work(rest);
        } finally {
          await rest.close();
        }
      }
      default:
        return unreachable(credentials);
    }
  };
}
