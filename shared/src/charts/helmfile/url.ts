/** The URL of an address of HTTP or SSH, and the credentials in it. Pure. */
import type { AddressCredentials } from "./address.ts";
import { invalidAddress } from "./errors.ts";
import { decodePart } from "./parameters.ts";
import type { AddressParts } from "./split-address.ts";

interface ParsedUrl {
  /** Without user, password, query and fragment. */
  readonly url: URL;
  readonly credentials?: AddressCredentials;
}

const hostPattern = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*)$/i;

/** Throws HELMFILE_SOURCE_INVALID. */
export function parseUrl({
  scheme,
  authority,
  base,
}: Pick<AddressParts, "scheme" | "authority" | "base">): ParsedUrl {
  const url = URL.parse(`${scheme}://${authority}${base}`);
  if (url === null || !hostPattern.test(url.hostname) || /[\s%]/.test(hostOf(authority)))
    throw invalidAddress(
      "spec.source",
      "has an invalid host or port",
      "HOST or HOST:PORT, and %40, %2F, %3A and %3F for these characters in a user name and a password",
    );
  const username = decodePart(url.username);
  const password = decodePart(url.password);
  if (username === undefined || password === undefined)
    throw invalidAddress(
      "spec.source",
      "has a user name or a password with a % that encodes nothing",
      "%25 for a percent sign, or better put them into the Secret that spec.sourceSecretName names",
    );
  // The URL standard leaves the case of hosts as it is for schemes that it does not know.
  url.hostname = url.hostname.toLowerCase();
  url.username = "";
  url.password = "";
  return username === "" && password === ""
    ? { url }
    : { url, credentials: { username, password } };
}

/** Host and port. */
export function hostOf(authority: string): string {
  return authority.slice(authority.lastIndexOf("@") + 1);
}
