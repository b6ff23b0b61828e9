/** Secrets that the hub makes once for all its replicas: whoever creates one first wins. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/client/status-error.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { ObjectRef } from "@flotilla/shared/kube/objects/object.ts";
import { identityErrors } from "./errors.ts";

/** The Secret as everybody has it, made where it is not there. The namespace must exist. */
export async function ensureSecret(
  rest: KubeRest,
  ref: Required<ObjectRef>,
  make: () => Promise<Pick<Secret, "type" | "data"> & Partial<Pick<Secret, "metadata">>>,
): Promise<Secret> {
  const existing = await rest.get(secrets, ref);
  if (existing !== undefined) return existing;
  const { type, data, metadata } = await make();
  try {
    return await rest.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...metadata, ...ref },
      ...(type !== undefined && { type }),
      ...(data !== undefined && { data }),
    });
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
  const winner = await rest.get(secrets, ref);
  if (winner !== undefined) return winner;
  throw new AppError(
    identityErrors.SECRET_INVALID,
    `Secret ${ref.namespace}/${ref.name} was deleted while it was being made`,
    { retryable: true },
  );
}

/** What it has under a key. Throws SECRET_INVALID where that is nothing. */
export function dataOf(secret: Secret, key: string): Buffer {
  const { name, namespace = "" } = secret.metadata;
  const value = secret.data?.[key];
  if (value === undefined || value === "")
    throw new AppError(identityErrors.SECRET_INVALID, `Secret ${namespace}/${name} has no ${key}`);
  return Buffer.from(value, "base64");
}
