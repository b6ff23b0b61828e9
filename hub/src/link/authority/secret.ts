/** The Secret of the hub's certificate authority. */
import { authoritySecretName } from "@flotilla/shared/api/names";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createAuthority } from "./certificate-authority.ts";
import { ensureSecret } from "./hub-secrets.ts";
import { readRecord, withRecord } from "./record.ts";

/**
 * The Secret `namespace/flotilla-ca`, created if it does not exist. The namespace must exist. It records the longest validity of
 * agents' certificates on any replica before one of `lifetimeMs` is signed, because a rotation waits for that long.
 */
export async function ensureAuthority(
  rest: KubeRest,
  namespace: string,
  now: number,
  lifetimeMs: number,
): Promise<Secret> {
  const ref = { namespace, name: authoritySecretName };
  for (;;) {
    const secret = await ensureSecret(rest, ref, async () => {
      const signing = await createAuthority(now);
      const made = withRecord(
        { metadata: ref },
        {
          signing,
          phase: { kind: "steady" },
          request: undefined,
          handled: undefined,
          lifetimeMs,
        },
      );
      return { type: "kubernetes.io/tls", data: made.data ?? {}, metadata: made.metadata };
    });
    const record = readRecord(secret);
    if ((record.lifetimeMs ?? 0) >= lifetimeMs) return secret;
    try {
      return await rest.replace(secrets, withRecord(secret, { ...record, lifetimeMs }));
    } catch (thrown) {
      // Another replica starts, or the leader rotates: read its write.
      if (!isConflict(thrown)) throw thrown;
    }
  }
}
