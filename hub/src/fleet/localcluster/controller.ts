/**
 * Lets the agent of the hub's own cluster enrol without a copy of a Secret by hand, on the leader: makes a registration token for the
 * Cluster `fleet-local/local`, and the bootstrap Secret of the agent from it. The agent itself is installed with its chart.
 */
import { type ClusterRegistrationToken, clusterRegistrationTokens } from "@flotilla/shared/api";
import { agentNamespace, bootstrapSecretName } from "@flotilla/shared/api/names";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import {
  createController,
  done,
  type Reconcile,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, namespaces, refOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { localToken, planBootstrap } from "./bootstrap.ts";

export interface LocalClusterDeps {
  /** Rejects writes after the leadership is lost. */
  readonly rest: KubeRest;
  readonly tokens: Pick<Informer<ClusterRegistrationToken>, "store" | "onChange">;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** The Secret of the token changes with the address and the authorities of the hub, which the token does not show. */
const resyncMs = 3_600_000;

const tokenKey = keyOf(localToken.metadata);

const bootstrap = { namespace: agentNamespace, name: bootstrapSecretName };

/** Runs until `signal` aborts. The informer must have synced. */
export async function runLocalCluster(deps: LocalClusterDeps, signal: AbortSignal): Promise<void> {
  const { tokens, clock, log, metrics } = deps;
  const controller = createController({
    name: "local-cluster",
    reconcile: localClusterReconciler(deps),
    log,
    metrics,
    clock,
  });
  // Made again when it was deleted or changed, and made at last when somebody else's has gone.
  const made = createInformer<Secret>({
    rest: deps.rest,
    resource: secrets,
    namespace: bootstrap.namespace,
    clock,
    fieldSelector: `metadata.name=${bootstrap.name}`,
    log: log.child({ cache: "bootstrap Secret" }),
  });
  const stops = [
    // The token changes when its Secret was made.
    tokens.onChange(({ key }) => {
      if (key === tokenKey) controller.enqueue(key);
    }),
    made.onChange(() => controller.enqueue(tokenKey)),
  ];
  controller.enqueue(tokenKey);
  const ending = new AbortController();
  const watching = made.run(AbortSignal.any([signal, ending.signal]));
  try {
    await controller.run(signal);
  } finally {
    for (const stop of stops) stop();
    ending.abort();
    await watching;
  }
}

/** Keyed by the ClusterRegistrationToken. */
export function localClusterReconciler({
  rest,
  tokens,
  events,
}: Pick<LocalClusterDeps, "rest" | "tokens" | "events">): Reconcile {
  return async function reconcile(key, { signal, log }) {
    const token = tokens.store.get(key);
    if (token === undefined) {
      await ignoreExisting(rest.create(clusterRegistrationTokens, localToken, { signal }));
      return done();
    }
    const { secretName } = token.status ?? {};
    if (secretName === undefined) return done();
    const registration = await rest.get(secrets, refOf(key), { signal });
    // The controller of tokens makes it again, which changes the token.
    if (registration === undefined) return done();
    const step = planBootstrap(token, registration, await rest.get(secrets, bootstrap, { signal }));
    switch (step.kind) {
      case "none":
        return resync();
      case "foreign":
        events.record(token, {
          type: "Warning",
          reason: "SecretConflict",
          action: "Prepare",
          note: `Secret ${keyOf(bootstrap)} exists and was not made by the hub, so it is left as it is; delete it, and the hub makes one with which the agent of this cluster enrols as local`,
        });
        return done();
      case "recreate":
        await rest.delete(secrets, bootstrap, {
          signal,
          ...(step.uid !== undefined && { uid: step.uid }),
        });
        break;
      case "create":
        await ignoreExisting(
          rest.create(namespaces, { metadata: { name: agentNamespace } }, { signal }),
        );
        break;
    }
    await rest.create(secrets, step.secret, { signal });
    log.info({ secret: keyOf(bootstrap) }, "made the bootstrap Secret of the hub's own cluster");
    return resync();
  };
}

function resync() {
  return requeueAfter(resyncMs, "the address or the authorities of the hub may have changed");
}

async function ignoreExisting(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
}
