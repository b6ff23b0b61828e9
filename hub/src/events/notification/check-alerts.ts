/** Says on each Alert and Provider what is wrong with it, once for each change, while this replica leads. */
import { AppError } from "@flotilla/shared/errors";
import type { Alert, Provider } from "@flotilla/shared/flux";
import type { Change, Informer } from "@flotilla/shared/kube/cache";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import { type AlertCheckInput, alertProblems } from "./alert-check.ts";
import { isWrittenAlert, isWrittenProvider } from "./objects.ts";
import { providerProblem } from "./provider-settings.ts";

export interface CheckDeps {
  readonly alerts: Pick<Informer<Alert>, "store" | "onChange">;
  readonly providers: Pick<Informer<Provider>, "store" | "onChange">;
  readonly crossNamespace: boolean;
  readonly objectsOf: AlertCheckInput["objectsOf"];
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** What an Alert names is often applied together with it, and after it. */
export const checkDelayMs = 5_000;

/** Runs until `signal` aborts. */
export async function checkAlerts(deps: CheckDeps, signal: AbortSignal): Promise<void> {
  const { alerts, providers, events, clock, log } = deps;
  const timers = new Map<ObjectKey, Timer>();
  /** One check after the other: each has pauses. */
  let checking: Promise<void> = Promise.resolve();

  function later(kind: string, key: ObjectKey, check: () => Promise<void>): void {
    const id = `${kind} ${key}`;
    timers.get(id)?.cancel();
    const run = () => {
      timers.delete(id);
      checking = checking
        .then(() => (signal.aborted ? undefined : check()))
        .catch((thrown: unknown) => log.error({ id, err: AppError.from(thrown) }, "check failed"));
    };
    timers.set(id, clock.setTimeout(run, checkDelayMs));
  }

  async function checkAlert(key: ObjectKey): Promise<void> {
    const alert = alerts.store.get(key);
    if (!isWrittenAlert(alert)) return;
    const { namespace = "" } = alert.metadata;
    const provider = providers.store.get(keyOf({ namespace, name: alert.spec.providerRef.name }));
    const problems = await alertProblems({ ...deps, alert, provider });
    if (problems.length > 0 && !signal.aborted) say(alert, "InvalidConfig", problems.join("; "));
  }

  async function checkProvider(key: ObjectKey): Promise<void> {
    const provider = providers.store.get(key);
    const problem = isWrittenProvider(provider) ? providerProblem(provider) : undefined;
    if (provider !== undefined && problem !== undefined)
      say(provider, "UnsupportedProvider", problem);
    for (const alert of alerts.store.list())
      if (
        alert.metadata.namespace === provider?.metadata.namespace &&
        alert.spec?.providerRef.name === provider?.metadata.name
      )
        await checkAlert(keyOf(alert));
  }

  function say(object: KubeObject, reason: string, note: string): void {
    const { kind = "" } = object;
    log.warn({ kind, key: keyOf(object), why: note }, "notifications are not sent");
    events.record(object, { type: "Warning", reason, action: "CheckSpec", note });
  }

  const stops = [
    alerts.onChange((change) => {
      if (isSpecChange(change)) later("Alert", change.key, () => checkAlert(change.key));
    }),
    providers.onChange((change) => {
      if (isSpecChange(change)) later("Provider", change.key, () => checkProvider(change.key));
    }),
  ];
  for (const alert of alerts.store.list())
    later("Alert", keyOf(alert), () => checkAlert(keyOf(alert)));
  for (const provider of providers.store.list())
    later("Provider", keyOf(provider), () => checkProvider(keyOf(provider)));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (const stop of stops) stop();
  for (const timer of timers.values()) timer.cancel();
}

function isSpecChange({ before, after }: Change<KubeObject>): boolean {
  return after !== undefined && before?.metadata.generation !== after.metadata.generation;
}
