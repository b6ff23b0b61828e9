/**
 * The key of the HMAC signatures of pins and BundleDeployments: one Secret for all replicas. Only the hub reads Secrets of its
 * namespace.
 */
import { randomBytes } from "node:crypto";
import { deploymentsSignedAnnotation } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { dataOf, ensureSecret } from "./hub-secrets.ts";

const signingSecret = "flotilla-pin-signing-key";
const keyBytes = 32;

/** What the signatures are over, in the record of a leader that has signed all: another value stands for an older hub. */
const signedWith = "bundle-uid";

export interface SigningKey {
  readonly bytes: Uint8Array;
  /** Whether a leader has signed every BundleDeployment with it. */
  readonly signsDeployments: boolean;
}

/** The key in the Secret `namespace/flotilla-pin-signing-key`, created if it does not exist. The namespace must exist. */
export async function ensureSigningKey(rest: KubeRest, namespace: string): Promise<SigningKey> {
  return keyOfSecret(await ensure(rest, namespace));
}

/** Records that every BundleDeployment has been signed with the key: one with another key has to be signed again. */
export async function recordDeploymentsSigned(
  rest: KubeRest,
  namespace: string,
  { bytes }: Pick<SigningKey, "bytes">,
  signal: AbortSignal,
): Promise<void> {
  const ref = { namespace, name: signingSecret };
  const current = await rest.get(secrets, ref, { signal });
  if (current === undefined || !dataOf(current, "key").equals(bytes)) return;
  const annotations = {
    ...current.metadata.annotations,
    [deploymentsSignedAnnotation]: signedWith,
  };
  const metadata = { ...current.metadata, annotations };
  await rest.replace(secrets, { ...current, metadata }, { signal });
}

/** The key as one replica uses it. */
export interface LiveSigningKey {
  /** The same object until the Secret changes. */
  current(): SigningKey;
  /** Watches the Secret until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export async function createLiveSigningKey(deps: {
  readonly rest: KubeRest;
  readonly namespace: string;
  readonly log: Log;
}): Promise<LiveSigningKey> {
  const { rest, namespace, log } = deps;
  let inUse = keyOfSecret(await ensure(rest, namespace));
  const informer = createInformer<Secret>({
    rest,
    resource: secrets,
    namespace,
    log,
    fieldSelector: `metadata.name=${signingSecret}`,
  });
  informer.onChange(({ after }) => {
    // A deleted one stays in use until another is made.
    if (after?.data?.["key"]) inUse = keyOfSecret(after);
  });
  return { current: () => inUse, run: (signal) => informer.run(signal) };
}

function ensure(rest: KubeRest, namespace: string): Promise<Secret> {
  return ensureSecret(rest, { namespace, name: signingSecret }, () =>
    Promise.resolve({ data: { key: randomBytes(keyBytes).toString("base64") } }),
  );
}

function keyOfSecret(secret: Secret): SigningKey {
  return {
    bytes: dataOf(secret, "key"),
    signsDeployments: secret.metadata.annotations?.[deploymentsSignedAnnotation] === signedWith,
  };
}
