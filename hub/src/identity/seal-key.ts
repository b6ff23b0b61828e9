/** Where the key is kept that the hub seals pins with. Nobody but the hub reads its namespace's Secrets. */
import { randomBytes } from "node:crypto";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { dataOf, ensureSecret } from "./ensure-secret.ts";

const secretName = "flotilla-pin-seal";
const keyBytes = 32;

/** The key in Secret `namespace/flotilla-pin-seal`, made when it is not there. The namespace must exist. */
export async function ensureSealKey(rest: KubeRest, namespace: string): Promise<Uint8Array> {
  const secret = await ensureSecret(rest, { namespace, name: secretName }, () =>
    Promise.resolve({ data: { key: randomBytes(keyBytes).toString("base64") } }),
  );
  return dataOf(secret, "key");
}
