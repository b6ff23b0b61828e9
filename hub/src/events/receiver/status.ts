/** The status of a Receiver. Pure. */

import { isDeepStrictEqual } from "node:util";
import type { Condition } from "@flotilla/shared/api";
import { requestTokens } from "@flotilla/shared/api/names";
import { type FluxCondition, maxResources, type ReceiverStatus } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { fluxConditions } from "../../sources/index.ts";
import type { Filters } from "./filters.ts";
import { hasTooMany, type Receiver } from "./receiver.ts";
import { isReceiverType, receiverTypes } from "./receiver-type.ts";
import { invalidResource, type ReferenceRules } from "./targets.ts";
import { webhookPath } from "./webhook-path.ts";

export type Verdict =
  /** `notes`: what is not triggered, for people. */
  | { readonly kind: "ready"; readonly path: string; readonly notes: readonly string[] }
  | { readonly kind: "token not found"; readonly why: string }
  /** Nothing but a change of the spec makes it valid. */
  | {
      readonly kind: "invalid";
      readonly reason: (typeof fluxReason)["validationFailed" | "invalidCELExpression"];
      readonly why: string;
    };

/** The limit of all filters of a Receiver, which take some 15 ms. */
const validatedCharacters = 16 * 1024;

/** What a Receiver is worth. `token`: absent without a Secret that has one. */
export function judge(
  receiver: Receiver,
  token: string | undefined,
  rules: ReferenceRules & { readonly filters: Pick<Filters, "invalid"> },
): Verdict {
  const { spec, metadata } = receiver;
  if (!isReceiverType(spec.type))
    return invalid(`type ${spec.type} is not supported; write one of ${receiverTypes.join(", ")}`);
  if (hasTooMany(receiver))
    return invalid(
      `spec.resources has ${spec.resources.length} entries; the limit is ${maxResources}: select objects by their labels, or write several Receivers`,
    );
  const expressions = [
    ["spec.resourceFilter", spec.resourceFilter],
    ...spec.resources.map(({ filter }, index) => [`spec.resources[${index}].filter`, filter]),
  ] as const;
  let characters = 0;
  for (const [field = "", source = ""] of expressions) {
    characters += source.length;
    // Calls compile the others, with what they may take.
    if (characters > validatedCharacters) break;
    const why = source === "" ? undefined : rules.filters.invalid(source);
    if (why !== undefined)
      return { kind: "invalid", reason: fluxReason.invalidCELExpression, why: `${field}: ${why}` };
  }
  const notes = spec.resources.flatMap((resource, index) => {
    const why = invalidResource(resource, receiver, rules);
    return why === undefined ? [] : [`spec.resources[${index}]: ${why}`];
  });
  if (notes.length > 0 && notes.length === spec.resources.length) return invalid(notes.join("; "));
  if (token === undefined)
    return {
      kind: "token not found",
      why: `unable to read token from Secret ${metadata.namespace}/${spec.secretRef?.name ?? ""}: it does not exist, has no key token, or is one that Receivers may not use: the hub's own, a token of a ServiceAccount or of a new node, or a record of Helm`,
    };
  return { kind: "ready", path: webhookPath(token, metadata), notes };
}

function invalid(why: string): Verdict {
  return { kind: "invalid", reason: fluxReason.validationFailed, why };
}

/** The status after a reconcile; the same object when nothing has changed. `now`: RFC 3339. */
export function receiverStatus(
  receiver: Receiver,
  verdict: Verdict,
  now: string,
): ReceiverStatus | undefined {
  const { generation = 0 } = receiver.metadata;
  const isSettled = verdict.kind !== "token not found";
  const { webhookPath: _, ...before } = receiver.status ?? {};
  return orUnchanged(receiver, {
    ...before,
    ...handled(receiver),
    ...(verdict.kind === "ready" && { webhookPath: verdict.path }),
    ...(isSettled && { observedGeneration: generation }),
    conditions: fluxConditions(receiver.status?.conditions, conditionsOf(verdict), {
      generation,
      now,
    }).map(complete),
  });
}

/** The status of a suspended Receiver: what Flux writes of it also then. */
export function suspendedStatus(receiver: Receiver): ReceiverStatus | undefined {
  const { generation = 0 } = receiver.metadata;
  const hasConditions = (receiver.status?.conditions ?? []).length > 0;
  return orUnchanged(receiver, {
    ...receiver.status,
    ...handled(receiver),
    ...(hasConditions && { observedGeneration: generation }),
  });
}

function handled({ metadata }: Receiver): Pick<ReceiverStatus, "lastHandledReconcileAt"> {
  const { requestedAt } = requestTokens(metadata);
  return requestedAt === undefined ? {} : { lastHandledReconcileAt: requestedAt };
}

function orUnchanged({ status }: Receiver, after: ReceiverStatus): ReceiverStatus | undefined {
  return isDeepStrictEqual(status ?? {}, after) ? status : after;
}

/** Flux's schema requires these fields, which ours does not. */
function complete({
  reason = "",
  message = "",
  lastTransitionTime = "",
  observedGeneration,
  ...condition
}: Condition): FluxCondition {
  return { ...condition, reason, message, lastTransitionTime, observedGeneration };
}

type NewCondition = Pick<FluxCondition, "type" | "status" | "reason" | "message">;

function conditionsOf(verdict: Verdict): readonly NewCondition[] {
  const condition = (
    type: string,
    status: FluxCondition["status"],
    [reason, message]: readonly [string, string],
  ): NewCondition => ({ type, status, reason, message });
  switch (verdict.kind) {
    case "ready": {
      const message = [`Receiver initialized for path: ${verdict.path}`, ...verdict.notes];
      return [condition(fluxType.ready, "True", [fluxReason.succeeded, message.join("; ")])];
    }
    case "token not found":
      return [
        condition(fluxType.reconciling, "True", [
          fluxReason.progressingWithRetry,
          "Reconciliation in progress",
        ]),
        condition(fluxType.ready, "False", [fluxReason.tokenNotFound, verdict.why]),
      ];
    case "invalid": {
      const text = `Reconciliation failed terminally due to configuration error: ${verdict.why}`;
      return [
        condition(fluxType.stalled, "True", [verdict.reason, text]),
        condition(fluxType.ready, "False", [verdict.reason, text]),
      ];
    }
  }
}
