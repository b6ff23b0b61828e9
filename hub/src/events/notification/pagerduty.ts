/** pagerduty: an error triggers the incident of the object; anything else resolves it, and is a change event besides. */
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { type FluxEvent, reasonWords } from "./event.ts";
import { type BuildDelivery, post, send, skipped } from "./provider-contract.ts";

export const pagerduty: BuildDelivery = (event, { address, channel }) => {
  if (event.reason === fluxReason.progressing) return skipped;
  const { message, metadata = {}, timestamp, involvedObject, reportingController } = event;
  const incident = { routing_key: channel, dedup_key: involvedObject.uid };
  const source = `Flux ${reportingController}`;
  const enqueue = new URL("/v2/enqueue", address);
  if (event.severity === "error")
    return send(
      post(enqueue, {
        ...incident,
        event_action: "trigger",
        payload: {
          summary: summaryOf(event),
          source,
          severity: "error",
          timestamp,
          component: involvedObject.name,
          group: involvedObject.kind,
          custom_details: { message, metadata },
        },
      }),
    );
  return send(
    post(enqueue, { ...incident, event_action: "resolve" }),
    post(new URL("/v2/change/enqueue", address), {
      routing_key: channel,
      payload: {
        summary: summaryOf(event),
        source,
        timestamp,
        custom_details: { message, metadata },
      },
    }),
  );
};

function summaryOf({ reason, involvedObject }: FluxEvent): string {
  return `${reasonWords(reason)}: ${involvedObject.kind.toLowerCase()}/${involvedObject.name}`;
}
