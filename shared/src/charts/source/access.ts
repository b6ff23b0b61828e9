/**
 * Access to a repository: credentials, TLS settings, plain HTTP. The credentials are for the host of one repository (and the
 * token service that it names) only, wherever an index or a redirect points to.
 */
import { createHash } from "node:crypto";
import { isSameParty } from "./address.ts";
import { parseOciName, type SourceLocation } from "./location.ts";

/** Never log it, and never put it into an error. */
export interface RepositoryAccess {
  /** The host that the credentials are for: `https://host:port` or `oci://host:port`. */
  readonly origin: string;
  readonly username?: string;
  readonly password?: string;
  /** Sent instead of user name and password. */
  readonly bearerToken?: string;
  /** Exchanged for short-lived tokens at the registry's token service (`identitytoken` of Docker's configuration). */
  readonly identityToken?: string;
  /** Certificate authorities that are trusted in addition to the system's. */
  readonly caPem?: string;
  /** Only `caPem` is trusted, not the system's authorities. */
  readonly trustsOnlyCa?: boolean;
  /** Sent to the host of the repository only. */
  readonly clientCertificate?: { readonly certPem: string; readonly keyPem: string };
  /** Verify no certificate on the way to the charts of this repository, as with Helm's flag. */
  readonly insecureSkipVerify?: boolean;
  /**
   * Errors may quote the responses of the host. Otherwise a HelmOp that names the address of an internal service would read what
   * that answers.
   */
  readonly showsResponses?: boolean;
  /** The OCI registry serves HTTP without TLS. Otherwise HTTP is tried for loopback addresses only. */
  readonly plainHttp?: boolean;
  /** Access to the repositories with the dependencies of a chart in a directory; those that it does not name get no credentials. */
  readonly dependencies?: readonly DependencyAccess[];
  /** The only repositories that its dependencies are fetched from: those that Policies judged. Absent: an earlier version made it. */
  readonly dependencyRepositories?: readonly string[];
  /** The OCI registry may serve HTTP without TLS: HTTPS is tried first, as with `insecure` of Flux's OCIRepository. */
  readonly plainHttpFallback?: boolean;
  /** The credentials are also sent to other hosts that the index of the repository names. Never from HTTPS to HTTP. */
  readonly passCredentials?: boolean;
  /** For Git over SSH. */
  readonly ssh?: SshAccess;
  /** The proxy of all requests with this access, instead of the proxies in the environment of the program. */
  readonly proxy?: ProxyAccess;
  /** Access to the repositories that a Git repository includes, in their order. */
  readonly included?: readonly RepositoryAccess[];
  /** The field that names the Secret, for messages; default: `helmSecretName`. */
  readonly secretField?: string;
}

export interface SshAccess {
  readonly identityPem: string;
  /** The passphrase of the identity. */
  readonly passphrase?: string;
  /** Lines as in the file of OpenSSH. */
  readonly knownHosts: string;
  /** Default: `git`. */
  readonly username?: string;
}

export interface ProxyAccess {
  /** `http://`, `https://` or `socks5://`, host and port, without a user. */
  readonly address: string;
  readonly username?: string;
  readonly password?: string;
}

export interface DependencyAccess {
  /** The URL of a repository, as in Chart.yaml. */
  readonly url: string;
  readonly access: AccessSettings;
}

/** An access without its host. */
export interface AccessSettings extends Omit<RepositoryAccess, "origin"> {
  /** A setting that is invalid and not needed, for people. Names keys and has none of their content. */
  readonly remark?: string;
}

/** The access to a source; anonymous without settings. */
export function accessTo(
  source: SourceLocation,
  { remark: _, ...settings }: AccessSettings = {},
): RepositoryAccess {
  return { ...settings, origin: originOf(source) };
}

/** The host of a registry's API; Docker Hub's differs from the host in its names. */
export function registryHost(host: string): string {
  return host === "docker.io" || host === "index.docker.io" ? "registry-1.docker.io" : host;
}

/** Whether an address is at the repository's own host, so that credentials may be sent to it. */
export function isHome(access: RepositoryAccess, url: URL): boolean {
  if (access.origin.startsWith("oci://")) {
    const host = registryHost(access.origin.slice("oci://".length));
    return URL.parse(`${url.protocol}//${host}`)?.host === url.host;
  }
  const home = URL.parse(access.origin);
  return home !== null && isSameParty(home, url);
}

/** The Authorization header for user name and password; undefined without them. */
export function basicAuthorization(access: RepositoryAccess): string | undefined {
  if (access.username === undefined || access.password === undefined) return undefined;
  return `Basic ${Buffer.from(`${access.username}:${access.password}`).toString("base64")}`;
}

function passesCredentials(access: RepositoryAccess, url: URL): boolean {
  const isDowngrade = access.origin.startsWith("https:") && url.protocol !== "https:";
  return access.passCredentials === true && !isDowngrade;
}

/** The Authorization header for an address of an HTTP repository; undefined for another host. */
export function homeAuthorization(access: RepositoryAccess, url: URL): string | undefined {
  if (!isHome(access, url) && !passesCredentials(access, url)) return undefined;
  return access.bearerToken === undefined
    ? basicAuthorization(access)
    : `Bearer ${access.bearerToken}`;
}

/** The same for equal accesses. For keys in memory only: it is derived from secrets. */
export function accessKey(access: RepositoryAccess): string {
  // What is fetched is the same.
  const { dependencyRepositories: _, ...credentials } = access;
  const fields = Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(fields)).digest("base64");
}

/** Masks the secrets of an access in a text that a server sent. */
export function withoutSecrets(text: string, access: RepositoryAccess): string {
  const basic = basicAuthorization(access)?.slice("Basic ".length);
  const { password, bearerToken, identityToken, proxy, ssh } = access;
  const secrets = [basic, password, bearerToken, identityToken, proxy?.password, ssh?.passphrase];
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
