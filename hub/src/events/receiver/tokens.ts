/** The Secrets of Receivers, as every replica has them in memory: a call that is rejected costs the API server no request. */
import type { ObjectRef as SecretRef } from "@flotilla/shared/api";
import type { Receiver as FluxReceiver } from "@flotilla/shared/flux";
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { isUsableByTenants, type WorkspaceObjects } from "../../rules/index.ts";
import type { Receiver } from "./receiver.ts";

/** What a Secret has for a Receiver. Never log it. */
export interface ReceiverSecret {
  readonly token: string;
  /** For the type gcr; "" when they are not set. */
  readonly email: string;
  readonly audience: string;
}

export interface ReceiverSecrets {
  /** As the watch delivered it. Undefined without a Secret or a token. Throws when it cannot be read. */
  known(receiver: Receiver): Promise<ReceiverSecret | undefined>;
  /** As the API server has it now. */
  current(receiver: Receiver): Promise<ReceiverSecret | undefined>;
}

/** A token without characters is none: anybody would have it. It counts with white space at its ends. */
export function receiverSecretIn(secret: Secret | undefined): ReceiverSecret | undefined {
  if (secret === undefined || !isUsableByTenants(secret)) return undefined;
  const text = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  const token = text("token");
  if (token === "") return undefined;
  return { token, email: text("email").trim(), audience: text("audience").trim() };
}

export function createReceiverSecrets(deps: {
  readonly rest: Pick<KubeRest, "get">;
  readonly objects: Pick<WorkspaceObjects, "known">;
}): ReceiverSecrets {
  return {
    async known(receiver) {
      const ref = secretOf(receiver);
      if (ref === undefined) return undefined;
      const known = await deps.objects.known(receiver.metadata.namespace ?? "", ref);
      if (known.kind !== "present") return undefined;
      const { namespace = "" } = receiver.metadata;
      const { type, data } = known.object;
      return receiverSecretIn({
        metadata: { namespace, name: ref.name },
        ...(type !== undefined && { type }),
        ...(data !== undefined && { data }),
      });
    },
    async current({ metadata: { namespace = "" }, spec }) {
      const { name } = spec.secretRef ?? {};
      if (name === undefined) return undefined;
      return receiverSecretIn(await deps.rest.get(secrets, { namespace, name }));
    },
  };
}

/** The Secret with the token of a Receiver. */
export function secretOf({ spec }: FluxReceiver): SecretRef | undefined {
  return spec?.secretRef && { kind: "Secret", name: spec.secretRef.name };
}

/** Keeps the Secrets of all Receivers watched. To be called before the informer runs; returns the function that stops it. */
export function watchReceiverSecrets(
  receivers: Pick<Informer<FluxReceiver>, "onChange">,
  objects: Pick<WorkspaceObjects, "watch" | "unwatch">,
): () => void {
  return receivers.onChange(({ before, after }) => {
    const [former, current] = [before, after].map((each) => each && secretOf(each));
    // First: a watch that stays is not stopped in between.
    if (after !== undefined && current !== undefined)
      objects.watch(after.metadata.namespace ?? "", current);
    if (before !== undefined && former !== undefined)
      objects.unwatch(before.metadata.namespace ?? "", former);
  });
}
