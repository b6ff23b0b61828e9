/** Where the hub's certificate authority is kept. Made once for all replicas: whoever creates the Secret first wins. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/status-error.ts";
import { createAuthority, type StoredAuthority } from "./certificate-authority.ts";
import { identityErrors } from "./errors.ts";

export const authoritySecretName = "flotilla-ca";

/** The authority in Secret `namespace/flotilla-ca`, made when it is not there. The namespace must exist. */
export async function ensureAuthority(
  rest: KubeRest,
  namespace: string,
  now: number,
): Promise<StoredAuthority> {
  const ref = { namespace, name: authoritySecretName };
  const existing = await rest.get(secrets, ref);
  if (existing !== undefined) return fromSecret(existing);
  const fresh = await createAuthority(now);
  try {
    await rest.create(secrets, toSecret(fresh, namespace));
    return fresh;
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
  // Another replica was faster; its authority is everybody's.
  const winner = await rest.get(secrets, ref);
  if (winner === undefined) {
    throw new AppError(
      identityErrors.AUTHORITY_INVALID,
      `Secret ${namespace}/${authoritySecretName} was deleted while it was being made`,
      { retryable: true },
    );
  }
  return fromSecret(winner);
}

function toSecret(authority: StoredAuthority, namespace: string): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: authoritySecretName, namespace },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": Buffer.from(authority.certificatePem).toString("base64"),
      "tls.key": Buffer.from(authority.keyPem).toString("base64"),
    },
  };
}

function fromSecret(secret: Secret): StoredAuthority {
  const read = (key: string): string => {
    const value = secret.data?.[key];
    if (value === undefined || value === "") {
      throw new AppError(
        identityErrors.AUTHORITY_INVALID,
        `Secret ${secret.metadata.namespace ?? ""}/${authoritySecretName} has no ${key}`,
      );
    }
    return Buffer.from(value, "base64").toString();
  };
  return { certificatePem: read("tls.crt"), keyPem: read("tls.key") };
}
