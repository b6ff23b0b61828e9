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
import { createLruCache } from "@flotilla/shared/cache";
import { createFairPool, createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectRef } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { matchHelmOps } from "./match-helm-ops.ts";
import type { RegistryKeys } from "./registry-keys.ts";
import { type Credentials, isAuthentic, isPresented } from "./registry-proof.ts";
import { readPush } from "./registry-push.ts";
import type { RequestReconciles } from "./request-reconciles.ts";
import type { WebhookAdmission, WebhookAnswer, WebhookServer } from "./webhook-server.ts";

export interface RegistryServerDeps {
  readonly keys: Pick<RegistryKeys, "known" | "current">;
  readonly store: Pick<Store<HelmOp>, "list">;
  readonly requestPolls: RequestReconciles;
  readonly clock: Clock;
  readonly log: Log;
}

type SecretRef = Required<ObjectRef>;

interface RegistryCall extends Credentials {
  readonly secret: SecretRef;
  readonly body: Uint8Array;
}

const pathPattern = /^\/hooks\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/;
const maxBytes = 256 * 1024;

/** For one Secret, by callers with its key: each call costs the API server a read. */
const callsPerSecond = 10;
const callsAtOnce = 50;
const keptDeliveries = 1_024;
/** Bodies of callers that have not shown the key; 32 MiB at worst. */
const unverified = { capacity: 128, keepMs: 500 };

const answers = {
  tooLarge: { status: 413, text: "the body is larger than 256 KiB\n" },
  notReady: { status: 503, text: "the hub is not ready\n" },
} as const satisfies WebhookServer["answers"];

const elsewhere: WebhookAnswer = { status: 404, text: "webhooks are at /hooks/NAMESPACE/SECRET\n" };
const notPost: WebhookAnswer = { status: 405, text: "only POST\n", headers: { allow: "POST" } };
const rejected: WebhookAnswer = { status: 401, text: "the key or the signature is not accepted\n" };
const limited: WebhookAnswer = { status: 429, text: "too many calls, try again later\n" };

export function createRegistryServer(deps: RegistryServerDeps): WebhookServer {
  const { keys, store, requestPolls, clock, log } = deps;
  const limit = createKeyedRateLimiter({ clock, perSecond: callsPerSecond, burst: callsAtOnce });
  const deliveries = createLruCache<true>(keptDeliveries);
  const unread = createFairPool(clock, unverified);

  async function poll({ secret, body }: RegistryCall): Promise<WebhookAnswer> {
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

  function failed(secret: SecretRef, thrown: unknown): WebhookAnswer {
    log.warn({ ...secret, err: AppError.from(thrown) }, "cannot handle a webhook call");
    return { status: 503, text: "cannot request the polls now; retry\n" };
  }

  async function answer(call: RegistryCall): Promise<WebhookAnswer> {
    const { secret } = call;
    try {
      if (!isAuthentic(await keys.known(secret), call, call.body)) return rejected;
      if (!limit.take(`${secret.namespace}/${secret.name}`)) return limited;
      return isAuthentic(await keys.current(secret), call, call.body) ? await poll(call) : rejected;
    } catch (thrown) {
      return failed(secret, thrown);
    }
  }

  return {
    maxBytes,
    answers,
    async admit({ method, path, header, from, evict }) {
      const secret = secretAt(path);
      if (secret === undefined) return answered(elsewhere);
      if (method !== "POST") return answered(notPost);
      const call = {
        secret,
        authorization: header("authorization"),
        signature: header("x-signature"),
      };
      const admitted = (release: () => void): WebhookAdmission => ({
        kind: "admitted",
        release,
        answer: (body) => answer({ ...call, body }),
      });
      try {
        if (isPresented(await keys.known(secret), call.authorization))
          return admitted(() => undefined);
      } catch (thrown) {
        return answered(failed(secret, thrown));
      }
      if (call.signature === "") return answered(rejected);
      const release = unread.admit(from, evict);
      return release === undefined ? answered(limited) : admitted(release);
    },
  };
}

/** Undefined: no webhook has this path. */
function secretAt(path: string): SecretRef | undefined {
  const [, namespace, name] = pathPattern.exec(path.split("?", 1)[0] ?? "") ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

function answered(answer: WebhookAnswer): WebhookAdmission {
  return { kind: "answered", answer };
}
