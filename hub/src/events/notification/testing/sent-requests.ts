/** An event, and the requests that the types of Providers make of it. */
import assert from "node:assert/strict";
import type { FluxEvent } from "../event.ts";
import type { ProviderSettings } from "../provider-contract.ts";
import { builderOf } from "../provider-types.ts";

/** A failed HelmOp, with the version of its chart. */
export const failure: FluxEvent = {
  involvedObject: {
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind: "HelmOp",
    name: "web",
    namespace: "prod",
    uid: "0c9c2e41-d2f9-4f9b-9c41-bebc1984d67a",
  },
  severity: "error",
  timestamp: "2026-01-01T00:00:00Z",
  message: "1 of 3 clusters failed",
  reason: "UpgradeFailed",
  metadata: { revision: "1.2.3", summary: "the shop", "a:b": "c:d" },
  reportingController: "flotilla.dev/hub",
  reportingInstance: "hub-0",
};
export const success: FluxEvent = { ...failure, severity: "info", reason: "UpgradeSucceeded" };

/** Those of a Provider at an address. */
export function settings(address: string, more: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    ...{ channel: "", username: "", password: "", token: "", headers: {} },
    uid: "9f8e7d6c-0000-4000-8000-000000000000",
    ...more,
    address: new URL(address),
  };
}

/** The requests of an event; fails when the type sends none. */
export function build(type: string, event: FluxEvent, of: ProviderSettings) {
  const delivery = builderOf(type)?.(event, of);
  assert.ok(delivery?.kind === "send", `${type} sends nothing`);
  return {
    ...delivery,
    sent: delivery.requests.map(({ url, headers, body = "", method }) => ({
      ...{ method, url: url.href, headers },
      body: JSON.parse(body) as Record<string, unknown>,
    })),
  };
}

/** The only request of an event. */
export function only(type: string, event: FluxEvent, of: ProviderSettings) {
  const { sent } = build(type, event, of);
  assert.equal(sent.length, 1);
  const [request] = sent;
  assert.ok(request !== undefined);
  return request;
}
