/** The controller of Receivers, on the leader. */
import { formatObjectRef } from "@flotilla/shared/api";
import { type Receiver as FluxReceiver, receivers as resource } from "@flotilla/shared/flux";
import { defineIndex, type Informer } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  isSpecChange,
  ownKey,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { ControllerDeps } from "../../base/index.ts";
import type { ReconcileDurations, WorkspaceObjects } from "../../rules/index.ts";
import { createFilters } from "./filters.ts";
import { receiverReconciler } from "./reconcile.ts";
import type { ReferenceRules } from "./targets.ts";
import { createReceiverSecrets, secretOf } from "./tokens.ts";

export interface ReceiverControllerDeps extends Omit<ControllerDeps, "caches">, ReferenceRules {
  readonly receivers: Pick<Informer<FluxReceiver>, "store" | "onChange">;
  /** Every replica keeps the Secrets of Receivers watched (`watchReceiverSecrets`). */
  readonly objects: Pick<WorkspaceObjects, "known" | "onChange">;
  readonly durations: ReconcileDurations;
}

const bySecret = defineIndex("receiverSecret", (receiver: FluxReceiver) => {
  const ref = secretOf(receiver);
  return ref === undefined ? [] : [`${receiver.metadata.namespace ?? ""}/${formatObjectRef(ref)}`];
});

export function createReceiverController(deps: ReceiverControllerDeps): Controller {
  const { receivers, objects } = deps;
  const secretChanges: Watch = {
    start: (enqueue) =>
      objects.onChange((namespace, ref) => {
        const users = receivers.store.byIndex(bySecret, `${namespace}/${formatObjectRef(ref)}`);
        for (const receiver of users) enqueue(keyOf(receiver));
      }),
  };
  return createController({
    name: "receiver",
    workers: 4,
    reconcile: deps.durations.timed(
      resource.kind,
      receivers.store,
      receiverReconciler({
        ...deps,
        filters: createFilters(),
        receivers: receivers.store,
        secrets: createReceiverSecrets(deps),
      }),
    ),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [watch(receivers, { predicate: isSpecChange, toKeys: ownKey }), secretChanges],
  });
}
