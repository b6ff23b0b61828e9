/**
 * Who may call the webhook of a Receiver: the proof that each type of sender gives, and the event that it names. Pure. The one of
 * gcr, which needs the keys of Google, is in google-token.ts. A body is not parsed for a proof: what the calls of a namespace may
 * take is counted after it. Of generic, dockerhub, quay and acr the proof is the path of the webhook.
 */

import { unreachable } from "@flotilla/shared/errors";
import type { ReceiverType } from "./receiver-type.ts";
import { isEqualInTime, isHmacOf, isSigned } from "./signature.ts";

/** A call of a webhook. */
export interface WebhookRequest {
  /** The first value of a header, by its name in lower case; "" without it. */
  readonly header: (name: string) => string;
  readonly body: Uint8Array;
}

export type Authentication =
  | { readonly kind: "accepted" }
  /** `why`: for the log. Has nothing of the token. */
  | { readonly kind: "rejected"; readonly why: string };

export interface Expected {
  readonly type: Exclude<ReceiverType, "gcr">;
  readonly token: string;
  /** The accepted events, whatever their case; all when there are none. */
  readonly events: readonly string[];
}

const accepted: Authentication = { kind: "accepted" };

/** The header in which a sender names its event. Other types have none, and `events` does not apply to them. */
const eventHeaders: Partial<Record<ReceiverType, string>> = {
  github: "x-github-event",
  gitlab: "x-gitlab-event",
  bitbucket: "x-event-key",
};

export function authenticate(expected: Expected, request: WebhookRequest): Authentication {
  const proof = verify(expected, request);
  if (proof.kind === "rejected") return proof;
  const header = eventHeaders[expected.type];
  if (header === undefined || expected.events.length === 0) return accepted;
  const event = request.header(header).toLowerCase();
  return expected.events.some((each) => each.toLowerCase() === event)
    ? accepted
    : rejected(`the event of header ${header} is not in spec.events`);
}

/**
 * Whether a body of a caller without proof is worth reading: false when its headers alone say that it will be rejected. The path
 * of the webhook is a secret, so that those who know it are the sender, or have seen one of its calls.
 */
export function mayBeAuthentic(expected: Expected, header: WebhookRequest["header"]): boolean {
  const { type } = expected;
  if (type === "gitlab" || type === "harbor")
    return verify(expected, { header, body: new Uint8Array() }).kind === "accepted";
  const signatures = signatureHeaders[type];
  return signatures === undefined || signatures.some((name) => header(name) !== "");
}

const signatureHeaders: Partial<Record<ReceiverType, readonly string[]>> = {
  "generic-hmac": ["x-signature"],
  github: ["x-hub-signature-256", "x-hub-signature"],
  bitbucket: ["x-hub-signature-256", "x-hub-signature"],
  nexus: ["x-nexus-webhook-signature"],
};

function verify({ type, token }: Expected, { header, body }: WebhookRequest): Authentication {
  switch (type) {
    case "generic":
    case "dockerhub":
    case "quay":
    case "acr":
      return accepted;
    case "generic-hmac":
      return isSigned(header("x-signature"), token, body)
        ? accepted
        : rejected("the header X-Signature has no valid HMAC of the body");
    case "github":
    case "bitbucket":
      return ofGitHub(token, { header, body });
    case "gitlab":
      return isToken(header("x-gitlab-token"), token)
        ? accepted
        : rejected("the header X-Gitlab-Token has not the token");
    case "harbor":
      return isToken(header("authorization"), token)
        ? accepted
        : rejected("the header Authorization has not the token");
    case "nexus":
      return isHmacOf(header("x-nexus-webhook-signature"), { key: token, algorithm: "sha1" }, body)
        ? accepted
        : rejected("the header X-Nexus-Webhook-Signature has no valid HMAC of the body");
    default:
      return unreachable(type);
  }
}

/** As GitHub's and Bitbucket Server's webhooks are signed. */
function ofGitHub(token: string, { header, body }: WebhookRequest): Authentication {
  const contentType = mediaType(header("content-type"));
  const isForm = contentType === "application/x-www-form-urlencoded";
  if (!isForm && contentType !== "application/json")
    return rejected("the content type is neither application/json nor a form");
  if (!isSigned(header("x-hub-signature-256") || header("x-hub-signature"), token, body))
    return rejected("the header X-Hub-Signature-256 has no valid HMAC of the body");
  // Reading a form of this size with URLSearchParams takes long.
  return !isForm || /(?:^|&)payload(?:[=&]|$)/.test(Buffer.from(body).toString("latin1"))
    ? accepted
    : rejected("the form has no field payload");
}

/** Without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}

function isToken(presented: string, token: string): boolean {
  const isEqual = isEqualInTime(presented, token);
  return isEqual && token !== "";
}

function rejected(why: string): Authentication {
  return { kind: "rejected", why };
}
