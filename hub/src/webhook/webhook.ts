/**
 * The webhook that registries call after a push: `POST /hooks/<namespace>/<secret>`. It requests polls of the
 * namespace's HelmOps that use the pushed repository, and does nothing else. The key is read from its Secret for each
 * call, so a changed key is valid at once and no replica keeps it. A Secret that is missing, has another type or
 * another key gets the same response, so that it reveals nothing to an unauthenticated caller.
 */

import type { HelmOp } from "@flotilla/shared/api";
import { webhookSecretType } from "@flotilla/shared/api/names";
import { createLruCache } from "@flotilla/shared/cache";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type ObjectRef, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { type Credentials, isAuthentic } from "./authenticate.ts";
import { matchHelmOps } from "./match-helm-ops.ts";
import { readPush } from "./payload.ts";
import { createPollRequests } from "./request-polls.ts";

export interface WebhookDeps {
  readonly rest: KubeRest;
  readonly helmOps: Store<HelmOp>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WebhookCall extends Credentials {
  /** The address of the sender. */
  readonly from: string;
  readonly secret: Required<ObjectRef>;
  readonly body: Uint8Array;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Webhook {
  /** Whether the rate limit allows another call; checked before any request. */
  mayCall(from: string, secret: Required<ObjectRef>): boolean;
  answer(call: WebhookCall): Promise<WebhookAnswer>;
}

/** The key of the Secret's data. */
const dataKey = "token";

/** Per sender, and per Secret: each call costs the API server a read. */
const callsPerSecond = 10;
const callsAtOnce = 50;
const keptDeliveries = 1_024;

const rejected: WebhookAnswer = { status: 401, text: "the key or the signature is not accepted\n" };

export function createWebhook({ rest, helmOps, clock, log }: WebhookDeps): Webhook {
  const limit = createKeyedRateLimiter({ clock, perSecond: callsPerSecond, burst: callsAtOnce });
  const deliveries = createLruCache<true>(keptDeliveries);
  const requestPolls = createPollRequests({ rest, clock });

  async function keyIn(ref: ObjectRef): Promise<string> {
    const secret = await rest.get(secrets, ref);
    if (secret?.type !== webhookSecretType) return "";
    return Buffer.from(secret.data?.[dataKey] ?? "", "base64")
      .toString()
      .trim();
  }

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
    const here = helmOps.list().filter(({ metadata }) => metadata.namespace === secret.namespace);
    const named = matchHelmOps(push, here);
    await requestPolls(named);
    // Only now: a failed delivery may be repeated.
    if (delivery !== undefined) deliveries.set(delivery, true);
    log.info({ ...secret, push: push.kind, helmOps: named.length }, "handled a webhook call");
    return { status: 202, text: `${named.length} HelmOps are polled\n` };
  }

  return {
    mayCall: (from, { namespace, name }) =>
      limit.take(`from ${from}`) && limit.take(`for ${namespace}/${name}`),
    async answer(call) {
      try {
        const key = await keyIn(call.secret);
        return isAuthentic(key, call, call.body) ? await poll(call) : rejected;
      } catch (thrown) {
        log.warn({ ...call.secret, err: AppError.from(thrown) }, "cannot handle a webhook call");
        return { status: 503, text: "cannot request the polls now; retry\n" };
      }
    },
  };
}
