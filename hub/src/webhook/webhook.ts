/**
 * The endpoint that registries call when something was pushed: `POST /hooks/<namespace>/<secret>`. It brings forward the
 * polls of that namespace's HelmOps that follow what was pushed, and does nothing else.
 *
 * The key is in a Secret, which is read for each call, so a changed key holds at once and no replica keeps any. Whoever has
 * no key learns nothing: a Secret that is missing, is none for webhooks or has another key is one and the same answer.
 */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { webhookSecretType } from "@flotilla/shared/api/names.ts";
import { createLruCache } from "@flotilla/shared/cache/lru-cache.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { ObjectRef } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { createRateLimit } from "../serve/rate-limit.ts";
import { isSender, type Proof } from "./is-sender.ts";
import { namedHelmOps } from "./named-helm-ops.ts";
import { readPush } from "./pushed-repositories.ts";
import { createPollRequests } from "./request-polls.ts";

export interface WebhookDeps {
  readonly rest: KubeRest;
  readonly helmOps: Store<HelmOp>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WebhookCall extends Proof {
  /** Where it came from. */
  readonly from: string;
  readonly secret: Required<ObjectRef>;
  readonly body: Uint8Array;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Webhook {
  /** Whether there may be another call now; before anything of it is read. */
  mayCall(from: string, secret: Required<ObjectRef>): boolean;
  answer(call: WebhookCall): Promise<WebhookAnswer>;
}

/** The key of the Secret's data. */
const dataKey = "token";

/** Of one sender, and for one Secret whoever sends: each call costs the API server a read. */
const callsPerSecond = 10;
const callsAtOnce = 50;
const keptDeliveries = 1_024;

const refused: WebhookAnswer = { status: 401, text: "the key or the signature is not accepted\n" };

export function createWebhook({ rest, helmOps, clock, log }: WebhookDeps): Webhook {
  const limit = createRateLimit({ clock, perSecond: callsPerSecond, burst: callsAtOnce });
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
    if (push.kind === "unreadable")
      return {
        status: 400,
        text: 'the body is neither a notification of distribution or Harbor nor {"repository": "..."}\n',
      };
    const delivery =
      push.kind === "named" && push.delivery !== undefined
        ? `${secret.namespace}/${secret.name} ${push.delivery}`
        : undefined;
    if (delivery !== undefined && deliveries.get(delivery) === true)
      return { status: 202, text: "this was delivered before\n" };
    const here = helmOps.list().filter(({ metadata }) => metadata.namespace === secret.namespace);
    const named = namedHelmOps(push, here);
    await requestPolls(named);
    // Only now: what could not be carried out may be delivered again.
    if (delivery !== undefined) deliveries.set(delivery, true);
    log.info({ ...secret, push: push.kind, helmOps: named.length }, "webhook was called");
    return { status: 202, text: `${named.length} HelmOps are polled\n` };
  }

  return {
    mayCall: (from, { namespace, name }) =>
      limit.take(`from ${from}`) && limit.take(`for ${namespace}/${name}`),
    async answer(call) {
      try {
        const key = await keyIn(call.secret);
        return isSender(key, call, call.body) ? await poll(call) : refused;
      } catch (thrown) {
        log.warn({ ...call.secret, err: AppError.from(thrown) }, "webhook was not carried out");
        return { status: 503, text: "it could not be carried out now, try again\n" };
      }
    },
  };
}
