/** Addresses of helmfiles in artifacts and images of registries. Pure. */
import { parseOciName, sha256Schema } from "../source/index.ts";
import type { OciAddress } from "./address.ts";
import { invalidAddress } from "./errors.ts";
import { requireKnown } from "./parameters.ts";
import type { AddressParts } from "./split-address.ts";

const tagPattern = /^\w[\w.-]{0,127}$/;

/** Throws HELMFILE_SOURCE_INVALID. */
export function ociAddress(parts: AddressParts): OciAddress {
  const { authority, base, digest, tree = "", parameters } = parts;
  requireKnown(parameters, ["cache"]);
  if (authority.includes("@"))
    throw invalidAddress(
      "spec.source",
      "has a user name or a password, which addresses of registries do not have",
      "the address without it, and the credentials into the Secret that spec.sourceSecretName names",
    );
  const [, path = "", tag] = /^([^:]*)(?::(.*))?$/s.exec(base) ?? [];
  const name = parseOciName(`oci://${authority}${path}`);
  if (name === undefined)
    throw invalidAddress(
      "spec.source",
      "is not the name of a repository of a registry, in lower case",
      "oci://HOST/PATH:TAG@FILE or oci://HOST/PATH@sha256:DIGEST@FILE",
    );
  if (tag !== undefined) requireTag("spec.source", tag);
  if (digest !== undefined && !sha256Schema.safeParse(digest).success)
    throw invalidAddress(
      "spec.source",
      "has an invalid digest",
      "@sha256: and 64 hexadecimal digits in lower case",
    );
  return {
    kind: "oci",
    repository: `oci://${name.host}/${name.path}`,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    path: tree,
  };
}

/** Throws HELMFILE_SOURCE_INVALID. */
export function requireTag(field: "spec.source" | "spec.version", tag: string): void {
  if (!tagPattern.test(tag))
    throw invalidAddress(
      field,
      "has an invalid tag",
      "letters, digits, dots, hyphens and underscores, at most 128",
    );
}
