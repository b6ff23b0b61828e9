/**
 * The webhook that registries call after a push: `POST /hooks/<namespace>/<secret>`. It requests polls of the
 * namespace's HelmOps that use the pushed repository, and does nothing else. A call with the right key is checked against its
 * Secret once more, so a revoked key is invalid at once. A Secret that is missing, has another type or another key gets the same
 * response, so that it reveals nothing to an unauthenticated caller.
 *
 * Only calls with the right key count against the rate limit of their Secret, so that nobody else can use it up. Of the others
 * few are read: one without a signature is rejected by its headers, and of bodies with a signature only so many are incomplete at
 * a time.
 */

import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { pollRequestAnnotation } from "@flotilla/shared/api/names";
import { createLruCache } from "@flotilla/shared/cache";
import { createFairPool, createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectRef } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createReconcileRequests } from "../receiver/request-reconciles.ts";
import { type Credentials, isAuthentic, isPresented } from "./authenticate.ts";
import type { WebhookKeys } from "./keys.ts";
import { matchHelmOps } from "./match-helm-ops.ts";
import { readPush } from "./payload.ts";

export interface WebhookDeps {
  readonly rest: KubeRest;
  readonly keys: Pick<WebhookKeys, "known" | "current">;
  readonly store: Store<HelmOp>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WebhookCall extends Credentials {
  readonly secret: Required<ObjectRef>;
  readonly body: Uint8Array;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Webhook {
  /**
   * What a call may do before its body is read: `rejected`: nothing can make it right; `signed`: the body decides, and
   * `release` is to be called when it was read.
   */
  admit(caller: WebhookCaller): Promise<WebhookAdmission>;
  answer(call: WebhookCall): Promise<WebhookAnswer>;
}

export interface WebhookCaller extends Credentials {
  /** The address of the sender. */
  readonly from: string;
  readonly secret: Required<ObjectRef>;
  /** Ends the call, to make room for others. */
  readonly evict: () => void;
}

export type WebhookAdmission =
  | { readonly kind: "answered"; readonly answer: WebhookAnswer }
  | { readonly kind: "admitted"; readonly release: () => void };

/** For one Secret, by callers with its key: each call costs the API server a read. */
const callsPerSecond = 10;
const callsAtOnce = 50;
const keptDeliveries = 1_024;
/** Bodies of callers that have not shown the key; 32 MiB at worst. */
const unverified = { capacity: 128, keepMs: 500 };

const rejected: WebhookAnswer = { status: 401, text: "the key or the signature is not accepted\n" };
const limited: WebhookAnswer = { status: 429, text: "too many calls, try again later\n" };

export function createWebhook({ rest, keys, store, clock, log }: WebhookDeps): Webhook {
  const limit = createKeyedRateLimiter({ clock, perSecond: callsPerSecond, burst: callsAtOnce });
  const deliveries = createLruCache<true>(keptDeliveries);
  const unread = createFairPool(clock, unverified);
  const requestPolls = createReconcileRequests({ rest, clock, annotation: pollRequestAnnotation });

  async function poll({ secret, body }: WebhookCall): Promise<WebhookAnswer> {
    const push = readPush(Buffer.from(body).toString());
    if (push.kind === "invalid")
      return {
        status: 400,
        text: 'the body is neither a notification of distribution or Harbor nor {"repository": "..."}\n',
      };
    const delivery =
      push.kind === "named" && push.delivery !== undefined
        ? `${secret.namespace}/${secret.name} ${push.delivery}`
        : undefined;
    if (delivery !== undefined && deliveries.get(delivery) === true)
      return { status: 202, text: "this delivery was handled before\n" };
    const here = store.list().filter(({ metadata }) => metadata.namespace === secret.namespace);
    const named = matchHelmOps(push, here);
    await requestPolls(named.map((helmOp) => ({ resource: helmOps, key: keyOf(helmOp) })));
    // Only now: a failed delivery may be repeated.
    if (delivery !== undefined) deliveries.set(delivery, true);
    log.info({ ...secret, push: push.kind, helmOps: named.length }, "handled a webhook call");
    return { status: 202, text: `${named.length} HelmOps are polled\n` };
  }

  const failed = (secret: ObjectRef, thrown: unknown): WebhookAnswer => {
    log.warn({ ...secret, err: AppError.from(thrown) }, "cannot handle a webhook call");
    return { status: 503, text: "cannot request the polls now; retry\n" };
  };

  return {
    async admit({ from, secret, authorization, signature, evict }) {
      try {
        if (isPresented(await keys.known(secret), authorization))
          return { kind: "admitted", release: () => undefined };
      } catch (thrown) {
        return { kind: "answered", answer: failed(secret, thrown) };
      }
      if (signature === undefined) return { kind: "answered", answer: rejected };
      const release = unread.admit(from, evict);
      return release === undefined
        ? { kind: "answered", answer: limited }
        : { kind: "admitted", release };
    },
    async answer(call) {
      const { secret } = call;
      try {
        if (!isAuthentic(await keys.known(secret), call, call.body)) return rejected;
        if (!limit.take(`${secret.namespace}/${secret.name}`)) return limited;
        return isAuthentic(await keys.current(secret), call, call.body)
          ? await poll(call)
          : rejected;
      } catch (thrown) {
        return failed(secret, thrown);
      }
    },
  };
}
