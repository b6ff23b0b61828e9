/** Addresses of helmfiles that are files, or in archives, of HTTP servers. Pure. */
import type { ArchiveAddress, FileAddress } from "./address.ts";
import { archiveFormat } from "./archive-format.ts";
import { invalidAddress } from "./errors.ts";
import { type Parameters, requireSingle } from "./parameters.ts";
import { type AddressParts, gitForm } from "./split-address.ts";
import { parseUrl } from "./url.ts";

/** They are for us; all others are sent. */
const ownNames = ["archive", "checksum", "cache"];

/** Throws HELMFILE_SOURCE_INVALID. */
export function httpAddress(parts: AddressParts): FileAddress | ArchiveAddress {
  const { scheme, base, tree, parameters } = parts;
  if (scheme !== "https" && scheme !== "http")
    throw invalidAddress("spec.source", "has a scheme that is not read over HTTP", "https://");
  requireSingle(parameters, ownNames);
  if (parameters.get("sshkey") !== undefined)
    throw invalidAddress("spec.source", "has an sshkey, but is not read by SSH", "git::ssh://");
  const { url, credentials } = parseUrl(parts);
  url.search = parameters.all
    .filter(({ name }) => !ownNames.includes(name))
    .map(({ written }) => written)
    .join("&");
  const digest = digestOf(parameters);
  const format = archiveFormat(base, parameters);
  const common = {
    url: url.href,
    ...(digest !== undefined && { digest }),
    ...(credentials !== undefined && { credentials }),
  };
  if (format !== undefined) return { kind: "archive", ...common, format, path: tree ?? "" };
  requireFile(base, tree);
  return { kind: "file", ...common };
}

function requireFile(base: string, tree: string | undefined): void {
  if (/\.git\/?$/i.test(base))
    throw invalidAddress("spec.source", "is a repository without git::", gitForm);
  if (tree !== undefined)
    throw invalidAddress(
      "spec.source",
      "names a file in something that is neither a repository nor an archive",
      `git:: before a repository, as in ${gitForm}, or ?archive=tar.gz behind an archive without that ending`,
    );
  if (base === "" || base.endsWith("/"))
    throw invalidAddress("spec.source", "names no file", "https://HOST/FOLDER/helmfile.yaml");
}

function digestOf(parameters: Parameters): string | undefined {
  const checksum = parameters.get("checksum") ?? "";
  if (checksum === "") return undefined;
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(checksum) ?? [];
  if (hex === undefined)
    throw invalidAddress(
      "spec.source",
      "has a checksum that is not one of SHA-256",
      "checksum=sha256: and 64 hexadecimal digits",
    );
  return `sha256:${hex.toLowerCase()}`;
}
