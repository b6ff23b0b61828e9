/** What a repository's address and access mean for a run of git. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { describeUrl, isHome, type RepositoryAccess } from "../index.ts";
import type { Endpoint } from "./dial.ts";
import { gitErrors } from "./errors.ts";

export interface Remote {
  readonly url: URL;
  readonly isSsh: boolean;
  readonly endpoint: Endpoint;
  /** The address for messages. */
  readonly description: string;
}

const ports: Readonly<Record<string, number>> = { "https:": 443, "http:": 80, "ssh:": 22 };

/** Throws GIT_URL_INVALID. */
export function parseRemote(text: string): Remote {
  const url = URL.parse(text);
  const port = url === null ? undefined : ports[url.protocol];
  if (url === null || port === undefined || url.hostname === "")
    throw new AppError(
      gitErrors.GIT_URL_INVALID,
      `${url === null ? "the address" : describeUrl(url)} is not an address of a Git repository: it starts with https://, http:// or ssh://`,
    );
  // With a query the name of a repository could be any path of an HTTP service.
  if (/[?#]/.test(text))
    throw new AppError(
      gitErrors.GIT_URL_INVALID,
      `${describeUrl(url)} has a query or a fragment, which addresses of Git repositories do not have`,
    );
  const isSsh = url.protocol === "ssh:";
  if (url.password !== "" || (!isSsh && url.username !== ""))
    throw new AppError(
      gitErrors.GIT_URL_INVALID,
      `${describeUrl(url)} has credentials in it: put them into the Secret of spec.secretRef`,
    );
  if (!/^[A-Za-z0-9._~-]*$/.test(url.username) || url.username.startsWith("-"))
    throw new AppError(gitErrors.GIT_URL_INVALID, `${describeUrl(url)} has an invalid user name`);
  return {
    url,
    isSsh,
    endpoint: {
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port === "" ? port : Number(url.port),
    },
    description: describeUrl(url),
  };
}

/** The name of the server in ssh's own configuration: the tunnel leads to it. */
const sshHost = "flotilla-git-server";

/** The address that git gets. */
export function addressForGit({ url, isSsh }: Remote, access: RepositoryAccess): string {
  if (!isSsh) return url.href;
  const user = url.username === "" ? (access.ssh?.username ?? "git") : url.username;
  return `ssh://${user}@${sshHost}${url.pathname}`;
}

/** Settings of git, which reach it by the environment: some are secrets. */
export function httpSettings(
  { url }: Remote,
  access: RepositoryAccess,
  files: {
    readonly ca: string;
    readonly clientCertificate?: { readonly cert: string; readonly key: string } | undefined;
  },
): Readonly<Record<string, string>> {
  const authorization = authorizationOf(access, url);
  const isSent = isHome(access, url);
  return {
    "http.sslCAInfo": files.ca,
    ...(access.insecureSkipVerify === true && { "http.sslVerify": "false" }),
    ...(isSent &&
      files.clientCertificate !== undefined && {
        "http.sslCert": files.clientCertificate.cert,
        "http.sslKey": files.clientCertificate.key,
      }),
    ...(authorization !== undefined && {
      [`http.${url.origin}/.extraHeader`]: `Authorization: ${authorization}`,
    }),
  };
}

function authorizationOf(access: RepositoryAccess, url: URL): string | undefined {
  if (!isHome(access, url)) return undefined;
  if (access.bearerToken !== undefined) return `Bearer ${headerText(access.bearerToken)}`;
  if (access.username === undefined || access.password === undefined) return undefined;
  return `Basic ${Buffer.from(`${access.username}:${access.password}`).toString("base64")}`;
}

function headerText(token: string): string {
  const text = token.trim();
  if (/[\r\n]/.test(text))
    throw new AppError(
      gitErrors.GIT_SECRET_INVALID,
      "the key bearerToken of the Secret has more than one line",
    );
  return text;
}

/** The whole configuration of ssh for one server. */
export function sshConfig(
  { endpoint }: Remote,
  options: {
    readonly tunnelPort: number;
    readonly identityFile: string;
    readonly knownHostsFile: string;
    readonly connectTimeoutMs: number;
    readonly asksPassphrase: boolean;
  },
): string {
  const alias = endpoint.port === 22 ? endpoint.host : `[${endpoint.host}]:${endpoint.port}`;
  return [
    "Host *",
    "HostName 127.0.0.1",
    `Port ${options.tunnelPort}`,
    `HostKeyAlias ${alias}`,
    `IdentityFile "${options.identityFile}"`,
    "IdentitiesOnly yes",
    "IdentityAgent none",
    `UserKnownHostsFile "${options.knownHostsFile}"`,
    "GlobalKnownHostsFile /dev/null",
    "StrictHostKeyChecking yes",
    "UpdateHostKeys no",
    "CheckHostIP no",
    "PreferredAuthentications publickey",
    `BatchMode ${options.asksPassphrase ? "no" : "yes"}`,
    "NumberOfPasswordPrompts 1",
    "ForwardAgent no",
    "PermitLocalCommand no",
    "ProxyCommand none",
    "ControlMaster no",
    "LogLevel ERROR",
    `ConnectTimeout ${Math.ceil(options.connectTimeoutMs / 1000)}`,
    "",
  ].join("\n");
}
