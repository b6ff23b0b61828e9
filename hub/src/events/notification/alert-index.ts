/** Finds the Alerts that may select an object: those with a source of its kind, namespace and name, which labels may exclude. */
import type { Alert } from "@flotilla/shared/flux";
import { defineIndex, type Store } from "@flotilla/shared/kube/cache";
import type { FluxEvent } from "./event.ts";
import { hasTooManySources, isWrittenAlert, type WrittenAlert } from "./objects.ts";

const bySource = defineIndex("eventSource", (alert: Alert) => {
  if (!isWrittenAlert(alert) || hasTooManySources(alert)) return [];
  const { namespace: own = "" } = alert.metadata;
  const sources = alert.spec.eventSources.map(({ kind, namespace, name }) =>
    sourceKey(kind, namespace || own, name),
  );
  return [...new Set(sources)];
});

export function alertsFor(
  alerts: Pick<Store<Alert>, "byIndex">,
  { involvedObject: { kind, namespace, name } }: Pick<FluxEvent, "involvedObject">,
): readonly WrittenAlert[] {
  const found = [namespace, "*"].flatMap((from) =>
    [name, "*"].flatMap((named) => alerts.byIndex(bySource, sourceKey(kind, from, named))),
  );
  return [...new Set(found)].filter(isWrittenAlert);
}

function sourceKey(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}
