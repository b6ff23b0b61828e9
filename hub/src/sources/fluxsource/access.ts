/** The access to a source of Flux: which Secrets it names, and what they say. */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import { accessTo, type RepositoryAccess, type SourceLocation } from "@flotilla/shared/source";
import { accessFromSourceSecrets, type SourceKind } from "@flotilla/shared/source/credentials";
import { SourceError } from "./source-error.ts";

/** The fields of a source that say how it is accessed. */
export interface AccessFields {
  readonly url: string;
  readonly secretRef?: { readonly name: string } | undefined;
  readonly certSecretRef?: { readonly name: string } | undefined;
  readonly proxySecretRef?: { readonly name: string } | undefined;
  readonly insecure?: boolean | undefined;
  readonly provider?: string | undefined;
  readonly passCredentials?: boolean | undefined;
}

/** The names of the Secrets, once each. */
export function secretNames({
  secretRef,
  certSecretRef,
  proxySecretRef,
}: AccessFields): readonly string[] {
  const names = [secretRef, certSecretRef, proxySecretRef].flatMap((ref) => ref?.name ?? []);
  return [...new Set(names)];
}

/** Throws a SourceError when a Secret does not exist or is invalid. `location`: what the credentials are for. */
export function sourceAccess(
  kind: SourceKind,
  fields: AccessFields,
  location: SourceLocation,
  secret: (name: string) => ReferencedObjectData | undefined,
): RepositoryAccess {
  const read = (ref: { readonly name: string } | undefined) => {
    if (ref === undefined) return undefined;
    const found = secret(ref.name);
    if (found !== undefined) return found;
    throw new SourceError(
      fluxReason.authenticationFailed,
      `there is no Secret ${ref.name} in the namespace of the ${kind}`,
    );
  };
  const settings = accessFromSourceSecrets(
    kind,
    {
      secret: read(fields.secretRef),
      certSecret: read(fields.certSecretRef),
      proxySecret: read(fields.proxySecretRef),
    },
    fields,
  );
  if (settings instanceof AppError)
    throw new SourceError(fluxReason.authenticationFailed, settings.message, { cause: settings });
  return accessTo(location, settings);
}
