/** Where the hub's certificate authority is kept. */
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { createAuthority, type StoredAuthority } from "./certificate-authority.ts";
import { dataOf, ensureSecret } from "./ensure-secret.ts";

export const authoritySecretName = "flotilla-ca";

/** The authority in Secret `namespace/flotilla-ca`, made when it is not there. The namespace must exist. */
export async function ensureAuthority(
  rest: KubeRest,
  namespace: string,
  now: number,
): Promise<StoredAuthority> {
  const secret = await ensureSecret(rest, { namespace, name: authoritySecretName }, async () => {
    const { certificatePem, keyPem } = await createAuthority(now);
    return {
      type: "kubernetes.io/tls",
      data: {
        "tls.crt": Buffer.from(certificatePem).toString("base64"),
        "tls.key": Buffer.from(keyPem).toString("base64"),
      },
    };
  });
  return {
    certificatePem: dataOf(secret, "tls.crt").toString(),
    keyPem: dataOf(secret, "tls.key").toString(),
  };
}
