/** generic and generic-hmac: the event itself, the second with a signature of the body. */
import { createHmac } from "node:crypto";
import type { FluxEvent } from "./event.ts";
import {
  type BuildDelivery,
  type OutgoingRequest,
  type ProviderSettings,
  post,
  send,
} from "./provider-contract.ts";

export const generic: BuildDelivery = (event, settings) => send(eventRequest(event, settings));

export const genericHmac: BuildDelivery = (event, settings) => {
  if (settings.token === "")
    return { kind: "impossible", why: "the Secret of the Provider has no token to sign with" };
  const request = eventRequest(event, settings);
  const signature = createHmac("sha256", settings.token)
    .update(request.body ?? "")
    .digest("hex");
  return send({
    ...request,
    headers: { ...request.headers, "x-signature": `sha256=${signature}` },
  });
};

function eventRequest(event: FluxEvent, { address, headers }: ProviderSettings): OutgoingRequest {
  const own = { ...lowerCase(headers), "gotk-component": event.reportingController };
  return post(address, event, own);
}

function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), v]));
}
