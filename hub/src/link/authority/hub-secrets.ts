/** Secrets that the hub creates once for all its replicas: the first create wins. */

import { AppError } from "@flotilla/shared/errors";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { type ObjectRef, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";

/** The one Secret of all replicas, created if it does not exist. The namespace must exist. */
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
    hubErrors.SECRET_INVALID,
    `Secret ${ref.namespace}/${ref.name} was deleted while it was being created; retrying`,
    { retryable: true },
  );
}

/** The data of a key. Throws SECRET_INVALID when it is missing or empty. */
export function dataOf(secret: Secret, key: string): Buffer {
  const { name, namespace = "" } = secret.metadata;
  const value = secret.data?.[key];
  if (value === undefined || value === "")
    throw new AppError(hubErrors.SECRET_INVALID, `Secret ${namespace}/${name} has no ${key}`);
  return Buffer.from(value, "base64");
}
