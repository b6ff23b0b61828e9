/** The service accounts of some namespaces, kept up to date by watches. */
import { AppError } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ServiceAccount, serviceAccounts } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../errors/index.ts";
import type { ServiceAccountRef } from "./account-choice.ts";

export interface ServiceAccounts {
  /** Resolves after the first lists. */
  readonly listed: Promise<void>;
  /** Throws SERVICE_ACCOUNT_MISSING if the accounts of its namespace cannot be listed. */
  exists(account: ServiceAccountRef): Promise<boolean>;
  /** Called when an account was created or deleted, and when those of a namespace can be listed that could not be before. */
  onChange(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ServiceAccountsDeps {
  readonly rest: KubeRest;
  readonly namespaces: readonly string[];
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

  return {
    listed: Promise.all([...watches.values()].map(({ listed }) => listed)).then(() => undefined),
    async exists(account) {
      const watch = watches.get(account.namespace);
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
      await Promise.all([...watches.values()].map((watch) => watch.run(signal)));
    },
  };
}

function watchAccounts(
  { rest, toleratesFailures, log }: ServiceAccountsDeps,
  namespace: string,
  notify: () => void,
) {
  const attempted = Promise.withResolvers<void>();
  let failure: AppError | undefined;
  const informer = createInformer<ServiceAccount>({
    rest,
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
    has: (account: ServiceAccountRef): boolean => informer.store.get(keyOf(account)) !== undefined,
    /** What was listed before is still valid. */
    failure: (): AppError | undefined => (informer.hasSynced ? undefined : failure),
    run: (signal: AbortSignal) => informer.run(signal),
  };
}
