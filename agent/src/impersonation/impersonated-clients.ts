/**
 * Impersonation: for a deployment the agent impersonates the service account that the deployment names, in the agent's
 * namespace. So a tenant's HelmOp can only do what that account may do, with any chart.
 */
import { AppError } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { Impersonation, KubeConnection, KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ServiceAccount, serviceAccounts } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../errors/index.ts";
import { createOwnUser } from "./own-account.ts";

/** The client for the requests of one deployment. */
export interface ImpersonatedClient {
  /** `service account NAMESPACE/NAME`, or `the agent itself`: for messages. */
  readonly subject: string;
  /** Requests have the rights of the agent. No tenant has these rights. */
  readonly isAgent: boolean;
  /** Sends requests as the account, over the agent's connections. */
  readonly rest: KubeRest;
  /** Arguments that make Helm impersonate the account. */
  readonly helmArgs: readonly string[];
}

export interface ImpersonatedClients {
  /** Resolves when the service accounts are listed. */
  readonly synced: Promise<void>;
  /**
   * `serviceAccount`: the one that a deployment names, if any. Throws SERVICE_ACCOUNT_MISSING, and SERVICE_ACCOUNT_DENIED for
   * the agent's own.
   */
  clientFor(serviceAccount: string | undefined): Promise<ImpersonatedClient>;
  /** Called when a service account was created or deleted. */
  onChange(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ImpersonatedClientsDeps {
  readonly connection: KubeConnection;
  /** The agent's. */
  readonly namespace: string;
  readonly log: Log;
}

/** Impersonated for deployments that name no account, where it exists. Fleet has the same rule. */
export const defaultServiceAccount = "fleet-default";

export function createImpersonatedClients({
  connection,
  namespace,
  log,
}: ImpersonatedClientsDeps): ImpersonatedClients {
  const informer = createInformer<ServiceAccount>({
    rest: connection,
    resource: serviceAccounts,
    namespace,
    log: log.child({ cache: "service accounts" }),
    transform: ({ metadata: { name, namespace, uid, resourceVersion } }) => ({
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
    }),
  });
  const agent: ImpersonatedClient = {
    subject: "the agent itself",
    isAgent: true,
    rest: connection,
    helmArgs: [],
  };
  /** By name. They have nothing to close, so they are never removed. */
  const clients = new Map<string, ImpersonatedClient>();

  function impersonate(name: string): ImpersonatedClient {
    const known = clients.get(name);
    if (known !== undefined) return known;
    const impersonation = serviceAccountImpersonation(namespace, name);
    const client: ImpersonatedClient = {
      subject: `service account ${namespace}/${name}`,
      isAgent: false,
      rest: connection.as(impersonation),
      helmArgs: impersonationArgs(impersonation),
    };
    clients.set(name, client);
    return client;
  }

  const ownUser = createOwnUser(connection);

  async function rejectOwn(name: string): Promise<void> {
    if (serviceAccountImpersonation(namespace, name).user !== (await ownUser())) return;
    throw new AppError(
      agentErrors.SERVICE_ACCOUNT_DENIED,
      `service account ${namespace}/${name} is the agent's own, which no deployment may impersonate; set serviceAccount to another one`,
    );
  }

  const exists = (name: string): boolean =>
    informer.store.get(keyOf({ namespace, name })) !== undefined;

  return {
    synced: informer.synced,
    async clientFor(serviceAccount) {
      await informer.synced;
      if (serviceAccount === undefined)
        return exists(defaultServiceAccount) ? impersonate(defaultServiceAccount) : agent;
      if (exists(serviceAccount)) {
        await rejectOwn(serviceAccount);
        return impersonate(serviceAccount);
      }
      throw new AppError(
        agentErrors.SERVICE_ACCOUNT_MISSING,
        `service account ${namespace}/${serviceAccount} not found, which the deployment impersonates; the agent continues as soon as it exists`,
      );
    },
    onChange(listener) {
      informer.onChange(({ before, after }) => {
        if (before === undefined || after === undefined) listener();
      });
    },
    run: (signal) => informer.run(signal),
  };
}

/** Without groups: the API server adds those of the service account, and the agent needs no right to impersonate groups. */
function serviceAccountImpersonation(namespace: string, name: string): Impersonation {
  return { user: `system:serviceaccount:${namespace}:${name}`, groups: [] };
}

/** Helm then sends all its requests as that account, those for its release Secrets included. */
function impersonationArgs({ user }: Impersonation): readonly string[] {
  return [`--kube-as-user=${user}`];
}
