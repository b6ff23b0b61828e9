/** What is wrong with the spec of an OCIRepository, with Flux's reason. Pure. */

import type { OCIRepositorySpec } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { parseOciName, sha256Schema } from "@flotilla/shared/source";
import { SourceError } from "../fluxsource/source-error.ts";

export interface OciRepositoryPlan {
  readonly spec: OCIRepositorySpec;
  /** `oci://host/path`. */
  readonly repository: string;
}

/** Throws a SourceError that names the field: only another spec helps. */
export function planOf(spec: OCIRepositorySpec | undefined): OciRepositoryPlan {
  const reject = (reason: string, message: string): SourceError =>
    new SourceError(reason, message, { stalls: true });
  if (spec === undefined)
    throw reject(fluxReason.urlInvalid, "the OCIRepository has no spec: set spec.url");
  const name = parseOciName(spec.url);
  if (name === undefined)
    throw reject(
      fluxReason.urlInvalid,
      "spec.url has to be oci://HOST/PATH, lower case, without a tag (that goes into spec.ref.tag), a digest or a user name",
    );
  const digest = spec.ref?.digest ?? "";
  if (digest !== "" && !sha256Schema.safeParse(digest).success)
    throw reject(fluxReason.urlInvalid, "spec.ref.digest has to be sha256: and 64 hex digits");
  if (spec.serviceAccountName !== undefined && spec.serviceAccountName !== "")
    throw reject(
      fluxReason.authenticationFailed,
      "spec.serviceAccountName is not supported, because agents have no accounts of the hub: set spec.secretRef to its image pull Secret",
    );
  const { operation = "extract" } = spec.layerSelector ?? {};
  if (spec.ignore !== undefined && spec.ignore !== "" && operation === "extract")
    throw reject(
      fluxReason.ociLayerOperationFailed,
      "spec.ignore is not supported, because agents install charts as they were pushed: leave the files out of the chart with .helmignore",
    );
  return { spec, repository: `oci://${name.host}/${name.path}` };
}
