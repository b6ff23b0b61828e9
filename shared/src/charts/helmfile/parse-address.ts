/**
 * Parses the address of a helmfile as users write it: helmfile's own grammar where that makes sense, and forms that helmfile refuses or
 * reads wrong. Pure.
 */
import { unreachable } from "../../runtime/errors/index.ts";
import type { HelmfileAddress } from "./address.ts";
import { gcsAddress, s3Address } from "./bucket-address.ts";
import { invalidAddress } from "./errors.ts";
import { gitAddress, requireRef } from "./git-address.ts";
import { httpAddress } from "./http-address.ts";
import { ociAddress, requireTag } from "./oci-address.ts";
import { type AddressParts, splitAddress } from "./split-address.ts";

export interface ParsedAddress {
  readonly address: HelmfileAddress;
  /** What the author should change although it works, as sentences without secrets. */
  readonly remarks: readonly string[];
}

/**
 * `source` and `version` are fields of a Helmfile; `version` is a branch, tag or commit of a repository or the tag of an image. Throws
 * HELMFILE_SOURCE_INVALID, with the field, what is wrong and what to write instead, and without any secret.
 */
export function parseHelmfileAddress(source: string, version = ""): ParsedAddress {
  const parts = splitAddress(source.trim());
  const address = withVersion(addressOf(parts), version.trim());
  return { address, remarks: remarksOn(address, parts) };
}

function addressOf(parts: AddressParts): HelmfileAddress {
  switch (parts.getter) {
    case "git":
      return gitAddress(parts);
    case "http":
      return httpAddress(parts);
    case "s3":
      return s3Address(parts);
    case "gcs":
      return gcsAddress(parts);
    case "oci":
      return ociAddress(parts);
    default:
      return unreachable(parts.getter);
  }
}

function withVersion(address: HelmfileAddress, version: string): HelmfileAddress {
  if (version === "") return address;
  switch (address.kind) {
    case "git":
      requireRef("spec.version", version);
      if (address.ref !== undefined && address.ref !== version) throw twoVersions("ref");
      return { ...address, ref: version };
    case "oci":
      requireTag("spec.version", version);
      if (address.tag === undefined && address.digest !== undefined) throw twoVersions("digest");
      if (address.tag !== undefined && address.tag !== version) throw twoVersions("tag");
      return { ...address, tag: version };
    case "file":
    case "archive":
    case "bucket":
      throw invalidAddress(
        "spec.version",
        "is set, but what spec.source names has no versions",
        "the version into the path of spec.source, or git:: or oci:// in spec.source",
      );
    default:
      return unreachable(address);
  }
}

function twoVersions(other: string): Error {
  return invalidAddress(
    "spec.version",
    `is another version than the ${other} in spec.source`,
    "one of them only",
  );
}

function remarksOn(address: HelmfileAddress, { parameters }: AddressParts): readonly string[] {
  const remarks: string[] = [];
  if ("credentials" in address)
    remarks.push(
      "spec.source holds a user name or a password: put them as username and password into the Secret that spec.sourceSecretName names",
    );
  if ("identityPem" in address)
    remarks.push(
      "spec.source holds a private key (sshkey): put it as identity into the Secret that spec.sourceSecretName names, which needs known_hosts too",
    );
  if (parameters.get("cache") !== undefined)
    remarks.push(
      "spec.source has the parameter cache, which has no effect: what is pinned is fetched once",
    );
  return remarks;
}
