/**
 * The webhooks of Receivers, which every replica answers. A call is accepted by what its type of sender proves; it requests
 * reconciles of the objects that its Receiver names, and does nothing else. The token of an accepted call is compared with its
 * Secret once more, so that one that was replaced is invalid at once. Answers have no body, as in Flux: it would be read by
 * no matter who calls.
 */

import { createFairPool, createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import type { Receiver as FluxReceiver } from "@flotilla/shared/flux";
import { fluxType } from "@flotilla/shared/flux/reasons";
import { defineIndex, type Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  type Authentication,
  authenticate,
  mayBeAuthentic,
  type WebhookRequest,
} from "./authenticate.ts";
import { type Call, createCallBudgets } from "./call-budgets.ts";
import type { Filters } from "./filters.ts";
import type { VerifyGoogle } from "./google-token.ts";
import type { ReadResources } from "./read-resources.ts";
import { hasSpec, hasTooMany, type Receiver } from "./receiver.ts";
import { isReceiverType, type ReceiverType } from "./receiver-type.ts";
import { payloadOf } from "./request-payload.ts";
import type { RequestReconciles } from "./request-reconciles.ts";
import { createSelection } from "./targets.ts";
import type { ReceiverSecret, ReceiverSecrets } from "./tokens.ts";
import { isPathOf, pathDigest } from "./webhook-path.ts";
import type { WebhookAdmission, WebhookCaller, WebhookServer } from "./webhook-server.ts";

export interface ReceiverServerDeps {
  readonly filters: Filters;
  readonly readResources: ReadResources;
  readonly receivers: Pick<Store<FluxReceiver>, "byIndex">;
  readonly secrets: ReceiverSecrets;
  readonly verifyGoogle: VerifyGoogle;
  readonly requestReconciles: RequestReconciles;
  readonly clock: Clock;
  readonly log: Log;
}

/** Flux's. */
const maxBytes = 3 * 1024 * 1024;
/** To one Receiver, by callers that were accepted. */
const callsPerSecond = 10;
const callsAtOnce = 50;
/** Bodies that are being read; 96 MiB at worst. */
const unread = { capacity: 32, keepMs: 500 };

const byPath = defineIndex("webhookPath", ({ status }: FluxReceiver) =>
  status?.webhookPath ? [pathDigest(status.webhookPath)] : [],
);

export function createReceiverServer(deps: ReceiverServerDeps): WebhookServer {
  const {
    receivers,
    secrets,
    filters,
    readResources,
    verifyGoogle,
    requestReconciles,
    clock,
    log,
  } = deps;
  const limit = createKeyedRateLimiter({ clock, perSecond: callsPerSecond, burst: callsAtOnce });
  const budgets = createCallBudgets(clock);
  const pool = createFairPool(clock, unread);

  function rejected(receiver: Receiver, why: string): number {
    log.warn({ receiver: keyOf(receiver), why }, "rejected a call of a Receiver");
    return 400;
  }

  function failed(receiver: Receiver, thrown: unknown): number {
    log.warn(
      { receiver: keyOf(receiver), err: AppError.from(thrown) },
      "cannot handle a call of a Receiver",
    );
    return 500;
  }

  /** What can be decided by the headers. */
  async function checkHeaders(
    { spec }: Receiver,
    type: ReceiverType,
    { secret, header }: { readonly secret: ReceiverSecret } & Pick<WebhookCaller, "header">,
  ): Promise<Authentication> {
    if (type === "gcr") return await verifyGoogle(header("authorization"), secret);
    const expected = { type, token: secret.token, events: spec.events ?? [] };
    return mayBeAuthentic(expected, header)
      ? { kind: "accepted" }
      : { kind: "rejected", why: "the header with the token or the signature is missing or wrong" };
  }

  async function answer(
    receiver: Receiver,
    {
      type,
      secret,
      path,
    }: { readonly type: ReceiverType; readonly secret: ReceiverSecret; readonly path: string },
    request: WebhookRequest,
  ): Promise<number> {
    const { spec } = receiver;
    if (type !== "gcr") {
      const expected = { type, token: secret.token, events: spec.events ?? [] };
      const verdict = authenticate(expected, request);
      if (verdict.kind === "rejected") return rejected(receiver, verdict.why);
    }
    // Only callers with the proof count, so that nobody else can use up what the right one may do.
    if (!limit.take(keyOf(receiver))) return 429;
    const call = budgets.begin(receiver.metadata.namespace ?? "", request.body.byteLength);
    if (call === undefined) return 429;
    try {
      return await trigger(receiver, { type, path, call }, request);
    } finally {
      call.end();
    }
  }

  async function trigger(
    receiver: Receiver,
    {
      type,
      path,
      call,
    }: { readonly type: ReceiverType; readonly path: string; readonly call: Call },
    request: WebhookRequest,
  ): Promise<number> {
    const { resources, resourceFilter = "" } = receiver.spec;
    const isFiltered = resourceFilter !== "" || resources.some(({ filter = "" }) => filter !== "");
    const payload = payloadOf(type, request, { isFiltered, onParse: call.countParsing });
    if (payload.kind === "rejected") return rejected(receiver, payload.why);
    if (payload.kind === "invalid") return failed(receiver, new Error(payload.why));
    const current = await secrets.current(receiver);
    if (current === undefined || !isPathOf(path, current.token, receiver.metadata)) return 404;
    const { allowance } = call;
    const selection = createSelection(receiver, { req: payload.value, filters, allowance });
    await readResources(receiver, selection);
    const { targets, errors } = selection.result();
    await requestReconciles(targets);
    const fields = { receiver: keyOf(receiver), type, targets: targets.length };
    if (errors.length === 0) log.info(fields, "handled a call of a Receiver");
    else
      log.warn({ ...fields, errors }, "a call of a Receiver cannot trigger all of its resources");
    return errors.length === 0 ? 200 : 500;
  }

  return {
    maxBytes,
    answers: { tooLarge: { status: 413 }, notReady: { status: 503 } },
    async admit({ path, header, from, evict }) {
      const [receiver] = receivers.byIndex(byPath, pathDigest(path));
      if (receiver === undefined || !hasSpec(receiver)) return answered(404);
      const { type } = receiver.spec;
      if (receiver.spec.suspend === true || !isReady(receiver) || !isReceiverType(type))
        return answered(503);
      if (hasTooMany(receiver)) return answered(503);
      try {
        const secret = await secrets.known(receiver);
        if (secret === undefined || !isPathOf(path, secret.token, receiver.metadata))
          return answered(404);
        const verdict = await checkHeaders(receiver, type, { secret, header });
        if (verdict.kind === "rejected") return answered(rejected(receiver, verdict.why));
        const release = pool.admit(from, evict);
        if (release === undefined) return answered(429);
        return {
          kind: "admitted",
          release,
          async answer(body) {
            const request = { header, body };
            try {
              return { status: await answer(receiver, { type, secret, path }, request) };
            } catch (thrown) {
              return { status: failed(receiver, thrown) };
            }
          },
        };
      } catch (thrown) {
        return answered(failed(receiver, thrown));
      }
    },
  };
}

function isReady({ status, metadata }: Receiver): boolean {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  return !isDeleted && findCondition(status?.conditions, fluxType.ready)?.status === "True";
}

function answered(status: number): WebhookAdmission {
  return { kind: "answered", answer: { status } };
}
