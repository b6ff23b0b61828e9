/**
 * Impersonation: for a deployment the agent impersonates the service account that the deployment names. So a tenant's HelmOp
 * can only do what that account may do, with any chart.
 */
import { agentNamespace } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { KubeConnection, KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../errors/agent-errors.ts";
import { chooseAccount, isHubAccount, type ServiceAccountRef } from "./account-choice.ts";
import { impersonationArgs, serviceAccountImpersonation } from "./impersonation-args.ts";
import { createOwnUser } from "./own-account.ts";
import { createServiceAccounts } from "./service-accounts.ts";
import type { WatchClient } from "./watch-client.ts";

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
  /** For watches, and for reading Helm's records: the agent's own rights, unless impersonation is required. */
  readonly watch: WatchClient;
}

export interface ImpersonatedClients {
  /** Nothing is done, read or watched for a deployment but as its account: without its client nothing is known of it. */
  readonly isRequired: boolean;
  /** Resolves when the service accounts are listed. */
  readonly synced: Promise<void>;
  /**
   * `serviceAccount`: the one that a deployment names, if any. Throws SERVICE_ACCOUNT_MISSING, SERVICE_ACCOUNT_REQUIRED and
   * SERVICE_ACCOUNT_DENIED.
   */
  clientFor(serviceAccount: string | undefined): Promise<ImpersonatedClient>;
  /** Whether the hub chose the account, which does not exist. Throws what `clientFor` throws if that is not known. */
  isGone(serviceAccount: string | undefined): Promise<boolean>;
  /** Called when a service account was created or deleted. */
  onChange(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ImpersonatedClientsDeps {
  readonly connection: KubeConnection;
  /** Impersonation is required, with accounts of these namespaces. Absent: only if a deployment names an account. */
  readonly namespaces?: readonly string[] | undefined;
  readonly log: Log;
}

/** Impersonated for deployments that name no account, where it exists. Fleet has the same rule. */
const defaultAccount: ServiceAccountRef = { namespace: agentNamespace, name: "fleet-default" };

export function createImpersonatedClients({
  connection,
  namespaces,
  log,
}: ImpersonatedClientsDeps): ImpersonatedClients {
  const accounts = createServiceAccounts({
    rest: connection,
    namespaces: namespaces ?? [agentNamespace],
    includesOthers: namespaces === undefined,
    toleratesFailures: namespaces !== undefined,
    log,
  });
  const ownWatch: WatchClient = { subject: "the agent", rest: connection, isPerNamespace: false };
  const agent: ImpersonatedClient = {
    subject: "the agent itself",
    isAgent: true,
    rest: connection,
    helmArgs: [],
    watch: ownWatch,
  };
  /** By account. They have nothing to close, so they are never removed. */
  const clients = new Map<string, ImpersonatedClient>();

  function impersonate(account: ServiceAccountRef): ImpersonatedClient {
    const subject = subjectOf(account);
    const known = clients.get(subject);
    if (known !== undefined) return known;
    const impersonation = serviceAccountImpersonation(account);
    const rest = connection.as(impersonation);
    const client: ImpersonatedClient = {
      subject,
      isAgent: false,
      rest,
      helmArgs: impersonationArgs(impersonation),
      watch: namespaces === undefined ? ownWatch : { subject, rest, isPerNamespace: true },
    };
    clients.set(subject, client);
    return client;
  }

  const ownUser = createOwnUser(connection);

  async function rejectOwn(account: ServiceAccountRef): Promise<void> {
    if (serviceAccountImpersonation(account).user !== (await ownUser())) return;
    throw new AppError(
      agentErrors.SERVICE_ACCOUNT_DENIED,
      `${subjectOf(account)} is the agent's own, which no deployment may impersonate; set serviceAccount to another one`,
    );
  }

  return {
    isRequired: namespaces !== undefined,
    synced: accounts.listed,
    async clientFor(serviceAccount) {
      const choice = chooseAccount(serviceAccount, namespaces);
      if (choice.kind === "unnamed")
        return (await accounts.exists(defaultAccount)) ? impersonate(defaultAccount) : agent;
      const { account } = choice;
      if (await accounts.exists(account)) {
        await rejectOwn(account);
        return impersonate(account);
      }
      throw new AppError(
        agentErrors.SERVICE_ACCOUNT_MISSING,
        `${subjectOf(account)} not found, which the deployment impersonates; the agent continues as soon as it exists`,
      );
    },
    async isGone(serviceAccount) {
      if (!isHubAccount(serviceAccount)) return false;
      const choice = chooseAccount(serviceAccount, namespaces);
      return choice.kind === "named" && !(await accounts.exists(choice.account));
    },
    onChange: accounts.onChange,
    run: accounts.run,
  };
}

function subjectOf({ namespace, name }: ServiceAccountRef): string {
  return `service account ${namespace}/${name}`;
}
