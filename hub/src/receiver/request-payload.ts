/** The body of a call as filters see it, as `req`. Pure. */
import { parseBounded } from "@flotilla/shared/json";
import * as z from "zod";
import { mediaType, type WebhookRequest } from "./authenticate.ts";
import type { ReceiverType } from "./receiver-type.ts";

/** A push message of Google Pub/Sub, with the event of the registry as base64 of JSON. */
const pubSubSchema = z.object({ message: z.object({ data: z.string() }) });

export type Payload =
  | { readonly kind: "payload"; readonly value: unknown }
  /** `why`: for the log. */
  | { readonly kind: "invalid"; readonly why: string };

/**
 * The JSON of the body, and `{}` of a body with another content type. That of gcr is the event in the message of Pub/Sub,
 * whatever the content type.
 */
export function payloadOf(type: ReceiverType, { header, body }: WebhookRequest): Payload {
  if (type === "gcr") return eventOfGoogle(body);
  if (mediaType(header("content-type")) !== "application/json")
    return { kind: "payload", value: {} };
  const value = parse(Buffer.from(body).toString());
  return value === undefined
    ? { kind: "invalid", why: "the body is no JSON" }
    : { kind: "payload", value };
}

function eventOfGoogle(body: Uint8Array): Payload {
  const message = pubSubSchema.safeParse(parse(Buffer.from(body).toString()));
  if (!message.success) return { kind: "invalid", why: "the body is no message of Google Pub/Sub" };
  const value = parse(Buffer.from(message.data.message.data, "base64").toString());
  return typeof value === "object" && value !== null
    ? { kind: "payload", value }
    : { kind: "invalid", why: "the data of the Pub/Sub message is no JSON object" };
}

function parse(text: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    return undefined;
  }
}
