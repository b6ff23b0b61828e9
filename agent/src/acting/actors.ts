/**
 * As whom the agent acts for a deployment: the service account that it names, in the agent's own namespace. So a tenant's
 * HelmOp can read and do what that account may, and nothing else, whatever is in its chart.
 */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { createInformer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeConnection, KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  type ServiceAccount,
  serviceAccounts,
} from "@flotilla/shared/kube/objects/core-resources.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { agentErrors } from "../errors.ts";
import { helmArgsFor, impersonationOf } from "./service-account.ts";

export interface Actor {
  /** `service account NAMESPACE/NAME`, or `the agent itself`: for messages. */
  readonly title: string;
  /** Whether it is the agent, whose rights are not those of any tenant. */
  readonly isAgent: boolean;
  /** Requests as this one, over the agent's connections. */
  readonly rest: KubeRest;
  /** What makes Helm act as this one. */
  readonly helmArgs: readonly string[];
}

export interface Actors {
  /** Whether the service accounts are known. */
  readonly synced: Promise<void>;
  /** `serviceAccount`: the one that a deployment names, if any. Throws SERVICE_ACCOUNT_MISSING. */
  of(serviceAccount: string | undefined): Promise<Actor>;
  /** Called when a service account came or went. */
  onChange(listener: () => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface ActorsDeps {
  readonly connection: KubeConnection;
  /** The agent's. */
  readonly namespace: string;
  readonly log: Log;
}

/** Who acts for deployments that name nobody, where this account exists. Fleet has the same. */
export const defaultServiceAccount = "fleet-default";

export function createActors({ connection, namespace, log }: ActorsDeps): Actors {
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
  const itself: Actor = {
    title: "the agent itself",
    isAgent: true,
    rest: connection,
    helmArgs: [],
  };
  /** By name; they hold nothing that would have to be closed. */
  const known = new Map<string, Actor>();

  function actorOf(name: string): Actor {
    const actor = known.get(name) ?? newActor(name);
    known.set(name, actor);
    return actor;
  }

  function newActor(name: string): Actor {
    const who = impersonationOf(namespace, name);
    return {
      title: `service account ${namespace}/${name}`,
      isAgent: false,
      rest: connection.as(who),
      helmArgs: helmArgsFor(who),
    };
  }

  const exists = (name: string): boolean =>
    informer.store.get(keyOf({ namespace, name })) !== undefined;

  return {
    synced: informer.synced,
    async of(serviceAccount) {
      await informer.synced;
      if (serviceAccount === undefined)
        return exists(defaultServiceAccount) ? actorOf(defaultServiceAccount) : itself;
      if (exists(serviceAccount)) return actorOf(serviceAccount);
      throw new AppError(
        agentErrors.SERVICE_ACCOUNT_MISSING,
        `look up service account ${namespace}/${serviceAccount}: there is none, and nothing is done for this deployment but as that account; it goes on as soon as somebody makes it`,
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
