/** Which service account a deployment names. Pure. */
import { agentNamespace } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../errors/agent-errors.ts";

export interface ServiceAccountRef {
  readonly namespace: string;
  readonly name: string;
}

/** `unnamed`: the default account where it exists, else the agent itself. */
export type AccountChoice =
  | { readonly kind: "unnamed" }
  | { readonly kind: "named"; readonly account: ServiceAccountRef };

const qualifiedName = /^[a-z0-9][-a-z0-9]*\/[a-z0-9][-.a-z0-9]*$/;

/** The form that only the hub writes: it refuses a colon in what users write. */
const hubAccount = /^system:serviceaccount:([a-z0-9][-a-z0-9]*):([a-z0-9][-.a-z0-9]*)$/;

/** Whether the hub chose the account, for an object that names one of its own namespace. */
export function isHubAccount(named: string | undefined): boolean {
  return hubAccount.test(named ?? "");
}

/**
 * An account in the form `system:serviceaccount:NAMESPACE:NAME` was chosen by the hub, and may be in any namespace.
 * `namespaces`: impersonation is required, and only accounts of these namespaces are impersonated; absent: accounts of the
 * agent's namespace, where a deployment names one. Throws SERVICE_ACCOUNT_REQUIRED and SERVICE_ACCOUNT_DENIED.
 */
export function chooseAccount(
  named: string | undefined,
  namespaces: readonly string[] | undefined,
): AccountChoice {
  const [, hubNamespace, hubName] = hubAccount.exec(named ?? "") ?? [];
  if (hubNamespace !== undefined && hubName !== undefined)
    return hubChosen({ namespace: hubNamespace, name: hubName }, namespaces);
  if (namespaces === undefined) return ownNamespaceAccount(named);
  const expected = `set serviceAccount to NAMESPACE/NAME of an account in ${oneOf(namespaces)}`;
  if (named === undefined)
    throw new AppError(
      agentErrors.SERVICE_ACCOUNT_REQUIRED,
      `the deployment names no service account, and this agent acts only as one (impersonation.required); ${expected}`,
    );
  if (!qualifiedName.test(named))
    throw new AppError(
      agentErrors.SERVICE_ACCOUNT_REQUIRED,
      `service account ${named} has no namespace, and this agent impersonates no account of its own namespace (impersonation.required); ${expected}`,
    );
  const [namespace = "", name = ""] = named.split("/");
  if (!namespaces.includes(namespace))
    throw new AppError(
      agentErrors.SERVICE_ACCOUNT_DENIED,
      `service account ${named} is in namespace ${namespace}, of which this agent may impersonate no account; ${expected}, or add ${namespace} to the value impersonation.namespaces of the chart flotilla-agent`,
    );
  return { kind: "named", account: { namespace, name } };
}

function hubChosen(
  account: ServiceAccountRef,
  namespaces: readonly string[] | undefined,
): AccountChoice {
  const { namespace, name } = account;
  if (namespaces === undefined || namespaces.includes(namespace)) return { kind: "named", account };
  throw new AppError(
    agentErrors.SERVICE_ACCOUNT_DENIED,
    `service account ${namespace}/${name} is in namespace ${namespace}, of which this agent may impersonate no account (impersonation.required); add ${namespace} to the value impersonation.namespaces of the chart flotilla-agent`,
  );
}

function ownNamespaceAccount(named: string | undefined): AccountChoice {
  if (named === undefined) return { kind: "unnamed" };
  if (qualifiedName.test(named))
    throw new AppError(
      agentErrors.SERVICE_ACCOUNT_DENIED,
      `service account ${named} has a namespace, and this agent, which was installed without impersonation.required, impersonates only accounts of namespace ${agentNamespace}; set serviceAccount to the name of such an account`,
    );
  return { kind: "named", account: { namespace: agentNamespace, name: named } };
}

function oneOf(namespaces: readonly string[]): string {
  return namespaces.length === 1
    ? `namespace ${namespaces[0]}`
    : `one of the namespaces ${namespaces.join(", ")}`;
}
