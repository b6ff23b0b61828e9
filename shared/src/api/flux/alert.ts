/** Flux's Alert: events of which objects are sent to which Provider. Written by users; without a status. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, type Typed } from "../fleet/index.ts";
import { eventSourceSchema } from "./event-source.ts";
import { string, stringMap, strings, suspend } from "./field.ts";

/** The limit of a list; Flux's definitions have no limit. */
export const maxExpressions = 32;

/** Flux's definitions have no limit. */
export const maxEventSources = 500;

const alertSpecSchema = fields({
  providerRef: described(
    fields({ name: described(z.string(), "Its name.") }),
    "The Provider of the namespace to send to.",
  ),
  eventSources: described(
    z.array(eventSourceSchema).max(maxEventSources),
    "The objects whose events are sent.",
  ),
  eventSeverity: described(
    z.enum(["info", "error"]).default("info"),
    "`error`: only failures; `info`: all events.",
  ),
  inclusionList: strings(
    "Regular expressions: only events whose message matches one of them are sent.",
    { absent: "all", maxItems: maxExpressions },
  ),
  exclusionList: strings(
    "Regular expressions: events whose message matches one of them are not sent, whatever `inclusionList` says.",
    { maxItems: maxExpressions },
  ),
  eventMetadata: stringMap("Metadata that is added to each event."),
  summary: described(
    string({ max: 255 }).optional(),
    "Deprecated: metadata with the name `summary`. Use `eventMetadata`.",
  ),
  suspend,
});

export type AlertSpec = Typed<typeof alertSpecSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface Alert extends KubeObject {
  readonly spec?: AlertSpec;
}

export const alertSchemas = { spec: alertSpecSchema } as const;
