/** The body of a call as filters see it, as `req`. Pure. */
import { parseBounded } from "@flotilla/shared/json";
import * as z from "zod";
import { mediaType, type WebhookRequest } from "./authenticate.ts";
import type { ReceiverType } from "./receiver-type.ts";

/** A push message of Google Pub/Sub, with the event of the registry as base64 of JSON. */
const pubSubSchema = z.object({ message: z.object({ data: z.string() }) });

export type Payload =
  | { readonly kind: "payload"; readonly value: unknown }
  /** The sender is to be rejected. `why`: for the log. */
  | { readonly kind: "rejected"; readonly why: string }
  /** The bodies of its sender may be anything, while the filters need JSON. */
  | { readonly kind: "invalid"; readonly why: string };

/** Types whose bodies are JSON, whatever their content type. */
const jsonTypes: ReadonlySet<ReceiverType> = new Set(["dockerhub", "quay", "acr", "nexus"]);

/**
 * The JSON of the body, and `{}` of a body with another content type, or for a Receiver without filters. For gcr it is the event
 * in the message of Pub/Sub, whatever the content type. `onParse`: is called before the body is parsed, which happens once.
 */
export function payloadOf(
  type: ReceiverType,
  { header, body }: WebhookRequest,
  { isFiltered, onParse }: { readonly isFiltered: boolean; readonly onParse: () => void },
): Payload {
  const isJson = isFiltered && mediaType(header("content-type")) === "application/json";
  const mustBeObject = jsonTypes.has(type);
  const empty = { kind: "payload", value: {} } as const;
  if (type !== "gcr" && !isJson && !mustBeObject) return empty;
  onParse();
  if (type === "gcr") return eventOfGoogle(body);
  const value = parse(Buffer.from(body).toString());
  if (value === undefined)
    return { kind: mustBeObject ? "rejected" : "invalid", why: "the body is not JSON" };
  if (mustBeObject && typeof value !== "object")
    return { kind: "rejected", why: "the body is not a JSON object" };
  return isJson ? { kind: "payload", value } : empty;
}

function eventOfGoogle(body: Uint8Array): Payload {
  const message = pubSubSchema.safeParse(parse(Buffer.from(body).toString()));
  if (!message.success)
    return { kind: "rejected", why: "the body is not a message of Google Pub/Sub" };
  const value = parse(Buffer.from(message.data.message.data, "base64").toString());
  return typeof value === "object" && value !== null
    ? { kind: "payload", value }
    : { kind: "rejected", why: "the data of the Pub/Sub message is not a JSON object" };
}

function parse(text: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    return undefined;
  }
}
