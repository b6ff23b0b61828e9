/** What a HelmRepository says about where its charts are. Pure. */

import type { HelmRepository, HelmRepositorySpec } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { RepositoryAccess, SourceLocation } from "@flotilla/shared/source";
import { sourceAccess } from "../fluxsource/access.ts";
import { SourceError } from "../fluxsource/source-error.ts";

/** Whether it is a registry, which has no index and so no status. */
export function isRegistry({ spec }: HelmRepository): boolean {
  return spec?.type === "oci" || /^oci:/i.test(spec?.url ?? "");
}

/** Throws a SourceError without a spec, which Flux's schema does not require. */
export function specOf({ spec }: HelmRepository): HelmRepositorySpec {
  if (spec !== undefined) return spec;
  throw new SourceError(fluxReason.urlInvalid, "the HelmRepository has no spec: set spec.url", {
    stalls: true,
  });
}

/** The location of one of its charts. */
export function chartLocation(repository: HelmRepository, chart: string): SourceLocation {
  const { url } = specOf(repository);
  return isRegistry(repository)
    ? { kind: "oci", repository: `${url.replace(/\/+$/, "")}/${chart}` }
    : { kind: "http", repository: url, chart };
}

/** Throws a SourceError when its Secrets cannot be used. */
export function helmRepositoryAccess(
  repository: HelmRepository,
  location: SourceLocation,
  secret: (name: string) => ReferencedObjectData | undefined,
): RepositoryAccess {
  return sourceAccess("HelmRepository", specOf(repository), location, secret);
}
