/** The key of the HMAC signatures of pins. Only the hub reads Secrets of its namespace. */
import { randomBytes } from "node:crypto";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { dataOf, ensureSecret } from "./ensure-secret.ts";

const secretName = "flotilla-pin-signing-key";
const keyBytes = 32;

/** The key in the Secret `namespace/flotilla-pin-signing-key`, created if it does not exist. The namespace must exist. */
export async function ensurePinSigningKey(rest: KubeRest, namespace: string): Promise<Uint8Array> {
  const secret = await ensureSecret(rest, { namespace, name: secretName }, () =>
    Promise.resolve({ data: { key: randomBytes(keyBytes).toString("base64") } }),
  );
  return dataOf(secret, "key");
}
