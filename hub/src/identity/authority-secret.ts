/** Where the hub's certificate authority is kept. */
import { authoritySecretName } from "@flotilla/shared/api/names.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict } from "@flotilla/shared/kube/client/status-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { readRecord, withRecord } from "./authority-record.ts";
import { createAuthority } from "./certificate-authority.ts";
import { ensureSecret } from "./ensure-secret.ts";

/**
 * The Secret `namespace/flotilla-ca`, made when it is not there. The namespace must exist. It says how long agents'
 * certificates are good for, the longest that any replica gives, before one of this `lifetimeMs` is signed: a rotation
 * waits for that long.
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
      // Another replica starts, or the leader rotates: what it wrote is read.
      if (!isConflict(thrown)) throw thrown;
    }
  }
}
