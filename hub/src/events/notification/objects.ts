/** Alerts and Providers whose spec is written: Flux's schema does not require one, and without it they do nothing. */
import {
  type Alert,
  type AlertSpec,
  maxEventSources,
  type Provider,
  type ProviderSpec,
} from "@flotilla/shared/flux";

export type WrittenAlert = Alert & { readonly spec: AlertSpec };
export type WrittenProvider = Provider & { readonly spec: ProviderSpec };

export function isWrittenAlert(alert: Alert | undefined): alert is WrittenAlert {
  return alert?.spec !== undefined;
}

export function isWrittenProvider(provider: Provider | undefined): provider is WrittenProvider {
  return provider?.spec !== undefined;
}

/** Such an Alert sends nothing. Flux's definitions, which this cluster may have, have no limit. */
export function hasTooManySources({ spec }: WrittenAlert): boolean {
  return spec.eventSources.length > maxEventSources;
}
