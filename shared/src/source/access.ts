/**
 * How a repository is accessed: credentials, trust, plain HTTP. An access belongs to one repository: its credentials
 * are for that host (and for the token service that the host names), wherever an index or a redirect points to.
 */
import { createHash } from "node:crypto";
import { isSameParty } from "./address.ts";
import { parseOciName, type SourceLocation } from "./location.ts";

/** Everything but `origin` may be missing. Never log one, never put one into an error. */
export interface RepositoryAccess {
  /** Whom the credentials are for: `https://host:port`, or `oci://host:port`. */
  readonly origin: string;
  readonly username?: string;
  readonly password?: string;
  /** Sent to the registry as it is, instead of user name and password. */
  readonly bearerToken?: string;
  /** Exchanged for short-lived tokens at the registry's token service (`identitytoken` of Docker's configuration). */
  readonly identityToken?: string;
  /** Certificate authorities that are trusted besides the system's. */
  readonly caPem?: string;
  /** Shown to the repository's host alone. */
  readonly clientCertificate?: { readonly certPem: string; readonly keyPem: string };
  /** No certificate is checked on the way to this repository's charts, as with Helm's own flag. */
  readonly insecureSkipVerify?: boolean;
  /** The OCI registry speaks HTTP without TLS. Without it that is tried for loopback addresses only. */
  readonly plainHttp?: boolean;
}

/** What an access has besides the repository that it is for. */
export type AccessSettings = Omit<RepositoryAccess, "origin">;

/** The access to a source with these settings; without settings, that of everybody. */
export function accessTo(source: SourceLocation, settings: AccessSettings = {}): RepositoryAccess {
  return { ...settings, origin: originOf(source) };
}

/** Docker Hub's registry is not at the host of its names. */
export function registryHost(host: string): string {
  return host === "docker.io" || host === "index.docker.io" ? "registry-1.docker.io" : host;
}

/** Whether an address is the repository's own host, so that it may be shown credentials. */
export function isHome(access: RepositoryAccess, url: URL): boolean {
  if (access.origin.startsWith("oci://")) {
    const host = registryHost(access.origin.slice("oci://".length));
    return URL.parse(`${url.protocol}//${host}`)?.host === url.host;
  }
  const home = URL.parse(access.origin);
  return home !== null && isSameParty(home, url);
}

/** The basic credentials as a header's value, if there are any. */
export function basicAuthorization(access: RepositoryAccess): string | undefined {
  if (access.username === undefined || access.password === undefined) return undefined;
  return `Basic ${Buffer.from(`${access.username}:${access.password}`).toString("base64")}`;
}

/** What an HTTP repository at this address is shown; nothing for any other host. */
export function homeAuthorization(access: RepositoryAccess, url: URL): string | undefined {
  if (!isHome(access, url)) return undefined;
  return access.bearerToken === undefined
    ? basicAuthorization(access)
    : `Bearer ${access.bearerToken}`;
}

/** Equal for accesses that are equal. A key for memory only: it is made from secrets. */
export function accessKey(access: RepositoryAccess): string {
  const fields = Object.entries(access).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(fields)).digest("base64");
}

/** A text without the secrets of an access, for what a server sent back. */
export function withoutSecrets(text: string, access: RepositoryAccess): string {
  const basic = basicAuthorization(access)?.slice("Basic ".length);
  const secrets = [basic, access.password, access.bearerToken, access.identityToken];
  let clean = text;
  for (const secret of secrets) {
    if (secret !== undefined && secret !== "") clean = clean.replaceAll(secret, "***");
  }
  return clean;
}

function originOf(source: SourceLocation): string {
  if (source.kind === "oci") return `oci://${parseOciName(source.repository)?.host ?? ""}`;
  return URL.parse(source.kind === "tarball" ? source.url : source.repository)?.origin ?? "";
}
