/** Runs the controller of ClusterRegistrationTokens and the count of their uses, on the leader. */
import type { Cluster, ClusterRegistrationToken } from "@flotilla/shared/api";
import { registrationSecretType } from "@flotilla/shared/api/names";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { createController } from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import type { LiveAuthority } from "../authority/live-authority.ts";
import { tokenReconciler } from "./reconcile.ts";
import { countTokenUses } from "./uses.ts";

export interface TokenControllerDeps {
  /** Rejects writes after the leadership is lost. */
  readonly rest: KubeRest;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly tokens: Pick<Informer<ClusterRegistrationToken>, "store" | "onChange">;
  readonly authority: Pick<LiveAuthority, "trusted" | "onChange">;
  /** `host:port` as agents reach the hub. */
  readonly address: string;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Runs until `signal` aborts. The informers must have synced. */
export async function runTokenController(
  deps: TokenControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { tokens, authority, address, clock, log, metrics } = deps;
  const hub = {
    address,
    get authoritiesPem() {
      return authority.trusted.pem;
    },
  };
  const controller = createController({
    name: "registration-token",
    reconcile: tokenReconciler({ ...deps, tokens: tokens.store, hub }),
    log,
    metrics,
    clock,
  });
  const enqueueAll = (): void => {
    for (const token of tokens.store.list()) controller.enqueue(keyOf(token));
  };
  // A Secret that was deleted or changed is made again; it has the name of its token.
  const made = createInformer<Secret>({
    rest: deps.rest,
    resource: secrets,
    clock,
    fieldSelector: `type=${registrationSecretType}`,
    log: log.child({ cache: "registration tokens" }),
  });
  const stops = [
    tokens.onChange(({ key }) => controller.enqueue(key)),
    made.onChange(({ key, after }) => {
      // The list that a leader begins with says nothing that its first reconciles do not read.
      if (tokens.store.get(key) !== undefined && (after === undefined || made.hasSynced))
        controller.enqueue(key);
    }),
    // The authorities are part of every token's Secret.
    authority.onChange(enqueueAll),
  ];
  enqueueAll();
  const uses = countTokenUses({ ...deps, tokens: tokens.store });
  const ending = new AbortController();
  const watching = made.run(AbortSignal.any([signal, ending.signal]));
  try {
    await controller.run(signal);
  } finally {
    for (const stop of stops) stop();
    ending.abort();
    await watching;
    await uses.stop();
  }
}
