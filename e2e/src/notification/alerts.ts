/** Creates Alerts and Providers, as users of Flux write them. */
import { waitUntil } from "@flotilla/local/process";
import { type Alert, alerts, type Provider, providers } from "@flotilla/shared/flux";
import { apiVersionOf, events, secrets } from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { hangMs } from "../harness/hang.ts";

type AlertSpec = NonNullable<Alert["spec"]>;

export interface Alerts {
  /** `secret`: the data of its `secretRef`, which gets the name of the Provider. */
  provider(
    namespace: string,
    name: string,
    spec: NonNullable<Provider["spec"]>,
    secret?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** To the Provider of its name; of the severity `info` unless said otherwise. */
  alert(
    namespace: string,
    name: string,
    spec: Partial<AlertSpec> & Pick<AlertSpec, "eventSources">,
  ): Promise<void>;
  /** Resolves once an object of the kind has such an Event. */
  waitForWarning(namespace: string, kind: string, note: RegExp): Promise<void>;
}

export function createAlerts(hub: ClusterClient): Alerts {
  return {
    async provider(namespace, name, spec, secret) {
      if (secret !== undefined)
        await hub.create(secrets, { metadata: { namespace, name }, stringData: secret });
      await hub.create(providers, {
        ...{ apiVersion: apiVersionOf(providers), kind: providers.kind },
        metadata: { namespace, name },
        spec: { ...spec, ...(secret !== undefined && { secretRef: { name } }) },
      });
    },
    async alert(namespace, name, spec) {
      await hub.create(alerts, {
        ...{ apiVersion: apiVersionOf(alerts), kind: alerts.kind },
        metadata: { namespace, name },
        spec: { providerRef: { name }, eventSeverity: "info", ...spec },
      });
    },
    async waitForWarning(namespace, kind, note) {
      await waitUntil(
        async () => {
          const found = await hub.reader.list(events, { namespace });
          return found.some(
            (event) =>
              event.type === "Warning" &&
              event.regarding?.kind === kind &&
              note.test(event.note ?? ""),
          );
        },
        { what: `a Warning on a ${kind} with ${note}`, timeoutMs: hangMs },
      );
    },
  };
}
