/**
 * Delivers what the outboxes hold, while this replica leads: one event after the other for each Provider, with a backoff of its
 * own, so that an address that never answers holds up no other.
 */

import { createLruCache } from "@flotilla/shared/cache";
import {
  backoffDelayMs,
  createTokenBucket,
  createWaker,
  type TokenBucket,
  type Waker,
  withJitter,
} from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Alert, Provider } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import {
  type KubeObject,
  type ObjectKey,
  refOf,
  type Secret,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime } from "@flotilla/shared/time";
import { isUsableByTenants } from "../../rules/index.ts";
import type { NotificationMetrics } from "./metrics.ts";
import { isWrittenProvider, type WrittenProvider } from "./objects.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-record.ts";
import { type ParseHeaders, providerProblem, readyProvider } from "./provider-settings.ts";
import { takesCommitUpdates } from "./provider-types.ts";
import type { SendEvent, SendResult } from "./sender.ts";

export interface DeliveryDeps {
  readonly outbox: Pick<Outbox, "entries" | "remove" | "providers" | "onChange">;
  readonly alerts: Pick<Store<Alert>, "get">;
  readonly providers: Pick<Store<Provider>, "get">;
  readonly rest: Pick<KubeRest, "get">;
  readonly send: SendEvent;
  /** Reads the headers in the Secrets of Providers. */
  readonly parseHeaders?: ParseHeaders;
  /** For failures, on the Alerts. */
  readonly events: EventRecorder;
  readonly metrics: Pick<NotificationMetrics, "delivered" | "failed" | "dropped">;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is older is dropped. */
export const longestAgeMs = 6 * 60 * 60_000;

/** After the retries that Flux makes. */
const backoff = { firstMs: 15_000, longestMs: 5 * 60_000 };

/** The deliveries to one Provider. */
const rate = { burst: 50, perSecond: 5 };
const maxBuckets = 1_000;

type Outcome =
  | { readonly kind: "delivered" | "skipped" }
  | {
      readonly kind: "dropped";
      readonly why: "rejected" | "removed" | "unsupported";
      readonly text: string;
    }
  | { readonly kind: "failed"; readonly text: string; readonly retryAfterMs?: number | undefined };

/** Runs until `signal` aborts. */
export async function runDelivery(deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  const workers = new Map<
    ObjectKey,
    { readonly wake: () => void; readonly ended: Promise<void> }
  >();

  const buckets = createLruCache<TokenBucket>(maxBuckets);

  function ensure(provider: ObjectKey): void {
    if (signal.aborted) return;
    const running = workers.get(provider);
    if (running !== undefined) {
      running.wake();
      return;
    }
    if (deps.outbox.entries(provider).length === 0) return;
    const waker = createWaker(deps.clock);
    const bucket = buckets.get(provider) ?? createTokenBucket({ ...rate, clock: deps.clock });
    buckets.set(provider, bucket);
    const ended = deliverAll(deps, { provider, waker, bucket }, signal)
      .catch((thrown: unknown) => {
        deps.log.error({ provider, err: messageOf(thrown) }, "delivery of notifications failed");
      })
      .finally(() => {
        workers.delete(provider);
        // Added after it had found nothing.
        ensure(provider);
      });
    workers.set(provider, { wake: waker.wake, ended });
  }

  const stop = deps.outbox.onChange(ensure);
  for (const provider of deps.outbox.providers()) ensure(provider);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  stop();
  await Promise.all([...workers.values()].map(({ ended }) => ended));
}

interface Worker {
  readonly provider: ObjectKey;
  readonly waker: Waker;
  readonly bucket: TokenBucket;
}

/** Until the outbox of the provider is empty. */
async function deliverAll(
  deps: DeliveryDeps,
  { provider, waker, bucket }: Worker,
  signal: AbortSignal,
): Promise<void> {
  const { outbox, clock, metrics } = deps;
  /** Removed, but perhaps not in the store yet. */
  const done = new Set<string>();
  const isEnding = () => signal.aborted;
  for (let failures = 0; !isEnding(); ) {
    const entry = outbox.entries(provider).find(({ id }) => !done.has(id));
    if (entry === undefined) return;
    const waitMs = bucket.reserve();
    if (waitMs > 0) await waitFor(waitMs);
    if (isEnding()) return;
    const ageMs = clock.now() - Date.parse(entry.event.timestamp);
    const outcome = await attempt(deps, provider, entry, signal);
    if (isEnding() && outcome.kind === "failed") return;
    switch (outcome.kind) {
      case "delivered":
      case "skipped":
        failures = 0;
        if (outcome.kind === "delivered") metrics.delivered.inc({ type: typeOf(deps, provider) });
        finish(entry);
        break;
      case "dropped":
        metrics.dropped.inc({ why: outcome.why });
        report(deps, provider, entry, outcome.text);
        finish(entry);
        break;
      case "failed": {
        failures += 1;
        metrics.failed.inc({ type: typeOf(deps, provider) });
        if (ageMs > longestAgeMs) {
          metrics.dropped.inc({ why: "expired" });
          report(deps, provider, entry, `${outcome.text}; not retried: it is older than 6 hours`);
          finish(entry);
          break;
        }
        const pauseMs =
          outcome.retryAfterMs ?? withJitter(backoffDelayMs(backoff, failures), Math.random());
        const retryAt = formatTime(clock.now() + pauseMs);
        report(deps, provider, entry, outcome.text);
        deps.log.warn(
          { provider, alert: entry.alert, err: outcome.text, retryAt },
          "notification not delivered; retrying",
        );
        await waitFor(Math.min(pauseMs, backoff.longestMs));
      }
    }
  }

  function finish({ id }: OutboxEntry): void {
    done.add(id);
    outbox.remove(provider, id);
  }

  /** What arrives meanwhile changes nothing. */
  async function waitFor(waitMs: number): Promise<void> {
    const until = clock.monotonic() + waitMs;
    for (let leftMs = waitMs; leftMs > 0 && !signal.aborted; leftMs = until - clock.monotonic())
      await waker.wait(leftMs, signal);
  }
}

async function attempt(
  deps: DeliveryDeps,
  key: ObjectKey,
  entry: OutboxEntry,
  signal: AbortSignal,
): Promise<Outcome> {
  const alert = deps.alerts.get(entry.alert);
  if (alert === undefined)
    return { kind: "dropped", why: "removed", text: "its Alert does not exist any more" };
  const provider = deps.providers.get(key);
  if (!isWrittenProvider(provider))
    return { kind: "failed", text: "the Provider does not exist, or has no spec" };
  if (provider.spec.suspend === true) return { kind: "skipped" };
  const { type } = provider.spec;
  const problem = providerProblem(provider);
  if (problem !== undefined) return { kind: "dropped", why: "unsupported", text: problem };
  const isUpdate = entry.event.metadata?.["commit_status"] === "update";
  if (isUpdate && !takesCommitUpdates(type)) return { kind: "skipped" };
  try {
    const ready = readyProvider(
      provider,
      await secretsOf(deps.rest, provider, signal),
      deps.parseHeaders,
    );
    if (typeof ready === "string") return { kind: "failed", text: ready };
    return outcomeOf(await deps.send(entry.event, type, ready, signal));
  } catch (thrown) {
    return { kind: "failed", text: messageOf(thrown) };
  }
}

function outcomeOf(result: SendResult): Outcome {
  switch (result.kind) {
    case "delivered":
    case "skipped":
      return result;
    case "rejected":
      return { kind: "dropped", why: "rejected", text: `${result.why}; not retried` };
    case "failed":
      return { kind: "failed", text: result.why, retryAfterMs: result.retryAfterMs };
  }
}

async function secretsOf(
  rest: Pick<KubeRest, "get">,
  provider: WrittenProvider,
  signal: AbortSignal,
) {
  const { namespace = "" } = provider.metadata;
  const read = async (
    ref: { readonly name: string } | null | undefined,
  ): Promise<Secret | undefined> => {
    if (!ref) return undefined;
    const found = await rest.get(secrets, { namespace, name: ref.name }, { signal });
    return found !== undefined && isUsableByTenants(found) ? found : undefined;
  };
  const { secretRef, certSecretRef, proxySecretRef } = provider.spec;
  const [secret, certSecret, proxySecret] = await Promise.all([
    read(secretRef),
    read(certSecretRef),
    read(proxySecretRef),
  ]);
  return { secret, certSecret, proxySecret };
}

/** As Flux does, on the Alert. */
function report(deps: DeliveryDeps, key: ObjectKey, entry: OutboxEntry, text: string): void {
  const alert: KubeObject | undefined = deps.alerts.get(entry.alert);
  const { kind, name, namespace } = entry.event.involvedObject;
  const { name: provider } = refOf(key);
  if (alert === undefined) return;
  deps.events.record(alert, {
    type: "Warning",
    reason: fluxReason.notificationDispatchFailed,
    action: "DispatchEvent",
    note: `event ${entry.event.reason} of ${kind} ${namespace}/${name} was not delivered to Provider ${provider}: ${text}`,
  });
}

function typeOf({ providers }: DeliveryDeps, key: ObjectKey): string {
  return providers.get(key)?.spec?.type ?? "";
}
