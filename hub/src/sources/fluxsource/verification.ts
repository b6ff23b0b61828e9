/** Verification of signatures, as `spec.verify` of OCIRepositories and HelmCharts requires: cosign with public keys. */

import { createHash } from "node:crypto";
import type { OCIRepositorySpec } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { type OciArtifacts, type OciQuery, publicKeyOf } from "@flotilla/shared/source/oci";
import type { FluxCondition } from "./conditions.ts";
import type { ReadSecret } from "./source-controller.ts";
import { type FailureCondition, SourceError } from "./source-error.ts";

/** In a HelmChart it lacks `trustedRootSecretRef`. */
export type Verification = NonNullable<OCIRepositorySpec["verify"]>;

export interface VerificationRequest {
  readonly artifacts: Pick<OciArtifacts, "isSigned">;
  readonly query: OciQuery;
  readonly digest: string;
  readonly secret: ReadSecret;
  /** What is verified, for messages: `revision latest@sha256:…`. */
  readonly what: string;
  /** Where and under which reason a failure is shown. */
  readonly failure: {
    readonly reason: string;
    readonly condition: FailureCondition;
  };
}

/** The condition SourceVerified. Throws a SourceError when nobody that is trusted has signed it. */
export async function verifySignature(
  verify: Verification,
  { artifacts, query, digest, secret, what, failure }: VerificationRequest,
): Promise<FluxCondition> {
  const fail = (message: string, stalls: boolean): SourceError =>
    new SourceError(failure.reason, `failed to verify the signature of ${what}: ${message}`, {
      condition: failure.condition,
      isUnverified: true,
      stalls,
    });
  const refused = unsupported(verify);
  if (refused !== undefined) throw fail(refused, true);
  const name = verify.secretRef?.name ?? "";
  const keys = publicKeysOf(name, secret(name)?.data);
  if (typeof keys === "string") throw fail(keys, false);
  if (!(await artifacts.isSigned(query, digest, keys)))
    throw fail(`no matching signatures were found for ${query.repository}@${digest}`, false);
  return {
    type: fluxType.sourceVerified,
    status: "True",
    reason: fluxReason.succeeded,
    message: `verified signature of ${what}`,
  };
}

/** What cannot be verified here, and what to use instead. Pure. */
export function unsupported(verify: Verification): string | undefined {
  const instead = "use provider cosign with spec.verify.secretRef, a Secret with public keys";
  if (verify.provider === "notation")
    return `spec.verify.provider notation is not supported: ${instead}`;
  if (verify.trustedRootSecretRef !== undefined)
    return `spec.verify.trustedRootSecretRef is not supported: ${instead}`;
  if ((verify.matchOIDCIdentity ?? []).length > 0)
    return `spec.verify.matchOIDCIdentity is not supported: ${instead}`;
  return verify.secretRef === undefined
    ? `signatures without keys (keyless) are not supported: ${instead}`
    : undefined;
}

/** Identifies the keys that are trusted: what other ones have signed is verified again. Pure. */
export function trustedKeysDigest(verify: Verification, secret: ReadSecret): string {
  const { data = {} } = secret(verify.secretRef?.name ?? "") ?? {};
  const keys = Object.entries(data)
    .filter(([key]) => key.endsWith(".pub"))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(keys)).digest("hex");
}

/** The public keys of a Secret, or what is wrong with it. Pure. */
export function publicKeysOf(
  name: string,
  data: Readonly<Record<string, string>> | undefined,
): readonly string[] | string {
  if (data === undefined) return `there is no Secret ${name}, or it is empty`;
  const keys = Object.entries(data)
    .filter(([key]) => key.endsWith(".pub"))
    .map(([key, text]) => ({ key, pem: Buffer.from(text, "base64").toString() }));
  if (keys.length === 0)
    return `the Secret ${name} has no public key: none of its keys ends in .pub`;
  const invalid = keys.find(({ pem }) => publicKeyOf(pem) === undefined);
  if (invalid !== undefined)
    return `${invalid.key} of the Secret ${name} is not a public key of ECDSA, Ed25519 or RSA in PEM form`;
  return keys.map(({ pem }) => pem);
}
