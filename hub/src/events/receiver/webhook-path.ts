/** The path of a Receiver's webhook. Pure. */
import { createHash } from "node:crypto";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import { isEqualInTime } from "./signature.ts";

/** All webhooks of Receivers are below this path. */
export const webhookPathPrefix = "/hook/";

/** Flux's: nobody finds it who does not have the token. The token is used as it is, with white space at its ends. */
export function webhookPath(token: string, { name, namespace = "" }: ObjectRef): string {
  return `${webhookPathPrefix}${createHash("sha256").update(`${token}${name}${namespace}`).digest("hex")}`;
}

/** Whether a request came to the path of the token. In constant time. */
export function isPathOf(path: string, token: string, receiver: ObjectRef): boolean {
  return isEqualInTime(path, webhookPath(token, receiver));
}

/** The key of an index by paths: how long a look-up takes says nothing about the paths that exist. */
export function pathDigest(path: string): string {
  return createHash("sha256").update(path).digest("base64");
}
