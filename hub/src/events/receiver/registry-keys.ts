/**
 * The keys of webhooks, as every replica has them in memory: so that a call with a wrong key costs no request to the API server,
 * however many there are.
 */
import { webhookSecretType } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectRef, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";

export interface RegistryKeys {
  /** The key in a Secret as the watch delivered it; "" without one. Read from the API server while nothing is listed yet. */
  known(secret: ObjectRef): Promise<string>;
  /** The key as the API server has it now. */
  current(secret: ObjectRef): Promise<string>;
  run(signal: AbortSignal): Promise<void>;
}

/** The key of the Secret's data. */
const dataKey = "token";

export function createRegistryKeys(rest: KubeRest, log: Log): RegistryKeys {
  const informer = createInformer<Secret>({
    rest,
    resource: secrets,
    fieldSelector: `type=${webhookSecretType}`,
    log: log.child({ cache: "webhook keys" }),
  });
  const current = async (ref: ObjectRef) => keyIn(await rest.get(secrets, ref));
  return {
    async known(ref) {
      return informer.hasSynced ? keyIn(informer.store.get(keyOf(ref))) : current(ref);
    },
    current,
    run: (signal) => informer.run(signal),
  };
}

function keyIn(secret: Secret | undefined): string {
  if (secret?.type !== webhookSecretType) return "";
  return Buffer.from(secret.data?.[dataKey] ?? "", "base64")
    .toString()
    .trim();
}
