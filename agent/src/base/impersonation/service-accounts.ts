/**
 * The service accounts of some namespaces, kept up to date by watches. Accounts in all other namespaces, which the hub may choose
 * from, are watched together, from the first deployment on that names one of them.
 */
import { AppError } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ServiceAccount, serviceAccounts } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../errors/agent-errors.ts";
import type { ServiceAccountRef } from "./account-choice.ts";

export interface ServiceAccounts {
  /** Resolves after the first lists. */
  readonly listed: Promise<void>;
  /** Throws SERVICE_ACCOUNT_MISSING if the accounts of its namespace cannot be listed. */
  exists(account: ServiceAccountRef): Promise<boolean>;
  /** Called when an account was created or deleted, and when the accounts of a namespace can be listed that could not be before. */
  onChange(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ServiceAccountsDeps {
  readonly rest: KubeRest;
  readonly namespaces: readonly string[];
  /** Accounts of other namespaces may be impersonated, too. */
  readonly includesOthers: boolean;
  /** A namespace whose accounts cannot be listed delays no other: its right may be missing for ever. */
  readonly toleratesFailures: boolean;
  readonly log: Log;
}

export function createServiceAccounts(deps: ServiceAccountsDeps): ServiceAccounts {
  const listeners: (() => void)[] = [];
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const watches = new Map(
    deps.namespaces.map((namespace) => [namespace, watchAccounts(deps, namespace, notify)]),
  );
  let others: AccountsWatch | undefined;
  let until: AbortSignal | undefined;
  let othersEnded: Promise<void> = Promise.resolve();

  function watchOfOthers(): AccountsWatch | undefined {
    if (others === undefined && deps.includesOthers && until !== undefined) {
      others = watchAccounts({ ...deps, toleratesFailures: true }, undefined, notify);
      othersEnded = others.run(until);
    }
    return others;
  }

  return {
    listed: Promise.all([...watches.values()].map(({ listed }) => listed)).then(() => undefined),
    async exists(account) {
      const watch = watches.get(account.namespace) ?? watchOfOthers();
      if (watch === undefined) return false;
      await watch.listed;
      const failure = watch.failure();
      if (failure !== undefined)
        throw new AppError(
          agentErrors.SERVICE_ACCOUNT_MISSING,
          `find service account ${account.namespace}/${account.name}, which the deployment impersonates: ${failure.message}`,
          { cause: failure },
        );
      return watch.has(account);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      until = signal;
      await Promise.all([...watches.values()].map((watch) => watch.run(signal)));
      await othersEnded;
    },
  };
}

interface AccountsWatch {
  readonly listed: Promise<void>;
  has(account: ServiceAccountRef): boolean;
  failure(): AppError | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Without a namespace: of all. */
function watchAccounts(
  { rest, toleratesFailures, log }: ServiceAccountsDeps,
  namespace: string | undefined,
  notify: () => void,
): AccountsWatch {
  const attempted = Promise.withResolvers<void>();
  let failure: AppError | undefined;
  const informer = createInformer<ServiceAccount>({
    rest,
    resource: serviceAccounts,
    ...(namespace !== undefined && { namespace }),
    log: log.child({ cache: "service accounts" }),
    transform: ({ metadata: { name, namespace, uid, resourceVersion } }) => ({
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
    }),
    onListed(failed) {
      const hadFailed = failure !== undefined;
      failure = failed;
      attempted.resolve();
      if (hadFailed && failed === undefined && toleratesFailures) notify();
    },
  });
  informer.onChange(({ before, after }) => {
    if (before === undefined || after === undefined) notify();
  });
  return {
    listed: toleratesFailures ? attempted.promise : informer.synced,
    has: (account) => informer.store.get(keyOf(account)) !== undefined,
    /** What was listed before is still valid. */
    failure: () => (informer.hasSynced ? undefined : failure),
    run: (signal) => informer.run(signal),
  };
}
