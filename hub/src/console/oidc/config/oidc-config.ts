/** The flags of login with OpenID Connect, parsed and checked. Flags for claims mean what they mean to kube-apiserver. Pure. */
import type { ParseArgsOptionsConfig } from "node:util";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { parseGoDuration } from "@flotilla/shared/time";

/** How a user of the API server is made from the claims of an ID token. */
export interface ClaimRules {
  readonly usernameClaim: string;
  /** "": none. */
  readonly usernamePrefix: string;
  /** "": users have no groups. */
  readonly groupsClaim: string;
  /** "": none. */
  readonly groupsPrefix: string;
  /** The only groups of the claim that users get, without the prefix; empty: all. */
  readonly allowedGroups: readonly string[];
}

export interface OidcConfig extends ClaimRules {
  /** `https://…`, or `http://…` on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  /** Read for each login, so that the secret can be replaced. */
  readonly clientSecretFile: string;
  /** Certificate authorities of the issuer besides the system's. */
  readonly caFile?: string;
  readonly scopes: readonly string[];
  /** The origin at which browsers reach the dashboard. */
  readonly dashboardUrl: string;
  readonly sessionMs: number;
}

export const oidcFlags = {
  "dashboard-url": { type: "string", default: "" },
  "oidc-issuer-url": { type: "string", default: "" },
  "oidc-client-id": { type: "string", default: "" },
  "oidc-client-secret-file": { type: "string", default: "" },
  "oidc-ca-file": { type: "string", default: "" },
  "oidc-scope": {
    type: "string",
    multiple: true,
    default: ["openid", "profile", "email", "groups"],
  },
  "oidc-username-claim": { type: "string", default: "sub" },
  "oidc-username-prefix": { type: "string", default: "" },
  "oidc-groups-claim": { type: "string", default: "groups" },
  "oidc-groups-prefix": { type: "string", default: "" },
  "oidc-allowed-group": { type: "string", multiple: true, default: [] },
  "oidc-session-duration": { type: "string", default: "8h" },
} satisfies ParseArgsOptionsConfig;

type FlagName = keyof typeof oidcFlags;
export type OidcFlags = {
  readonly [F in FlagName]: (typeof oidcFlags)[F] extends { readonly multiple: true }
    ? readonly string[]
    : string;
};

export const oidcUsage = `  --dashboard-url URL          by which browsers reach the dashboard, such as https://flotilla.example.com
  --oidc-issuer-url URL        of an OpenID provider, with which users log in to the dashboard; default: none
  --oidc-client-id ID          of the dashboard at the provider
  --oidc-client-secret-file F  with its secret
  --oidc-ca-file FILE          further certificate authorities of the provider, PEM
  --oidc-scope SCOPE           to request; may be repeated; default openid, profile, email and groups
  --oidc-username-claim NAME   the claim with the user's name; default sub
  --oidc-username-prefix TEXT  before it; -: none; default: the issuer and #, none for the claim email
  --oidc-groups-claim NAME     the claim with the user's groups; default groups
  --oidc-groups-prefix TEXT    before each of them; needed unless groups are listed
  --oidc-allowed-group NAME    that users get, no others; without the prefix; may be repeated; default all
  --oidc-session-duration D    after which users log in again, at most 24h; default 8h
`;

/** What no provider may name: Kubernetes' own users and groups. */
const reserved = "system:";
const minuteMs = 60_000;
const longestSessionMs = 24 * 60 * minuteMs;

/** Undefined without an issuer. Throws CONFIG_INVALID, whose message names the flag. */
export function parseOidcConfig(flags: OidcFlags): OidcConfig | undefined {
  const issuer = flags["oidc-issuer-url"];
  if (issuer === "") {
    const other = (["oidc-client-id", "oidc-client-secret-file", "oidc-ca-file"] as const).find(
      (flag) => flags[flag] !== "",
    );
    if (other !== undefined) throw invalid(`--${other} needs --oidc-issuer-url`);
    return undefined;
  }
  checkAddress(issuer, "--oidc-issuer-url");
  const clientId = required(flags, "oidc-client-id");
  const clientSecretFile = required(flags, "oidc-client-secret-file");
  const dashboard = checkAddress(required(flags, "dashboard-url"), "--dashboard-url");
  if (dashboard.pathname !== "/")
    throw invalid(
      `--dashboard-url is "${flags["dashboard-url"]}", but the dashboard is at the path / of its host`,
    );
  const scopes = flags["oidc-scope"];
  if (!scopes.includes("openid"))
    throw invalid("--oidc-scope lacks openid, without which the provider sends no ID token");
  const sessionMs = parseGoDuration(flags["oidc-session-duration"]);
  if (sessionMs === undefined || sessionMs < minuteMs || sessionMs > longestSessionMs)
    throw invalid(
      `--oidc-session-duration is "${flags["oidc-session-duration"]}", which is not a duration from 1m to 24h`,
    );
  const caFile = flags["oidc-ca-file"];
  return {
    issuer,
    clientId,
    clientSecretFile,
    scopes,
    sessionMs,
    dashboardUrl: dashboard.origin,
    usernameClaim: required(flags, "oidc-username-claim"),
    usernamePrefix: usernamePrefixOf(flags, issuer),
    groupsClaim: flags["oidc-groups-claim"],
    groupsPrefix: groupsPrefixOf(flags),
    allowedGroups: flags["oidc-allowed-group"],
    ...(caFile !== "" && { caFile }),
  };
}

/** As kube-apiserver's default: names of another issuer are other users; those that are email addresses are the same everywhere. */
function usernamePrefixOf(flags: OidcFlags, issuer: string): string {
  const prefix = allowedPrefix(flags, "oidc-username-prefix");
  if (prefix === "-") return "";
  if (prefix !== "") return prefix;
  return flags["oidc-username-claim"] === "email" ? "" : `${issuer}#`;
}

/** Without one, an administrator of the provider could put a user into any group of the cluster. */
function groupsPrefixOf(flags: OidcFlags): string {
  const prefix = allowedPrefix(flags, "oidc-groups-prefix");
  const hasGroups = flags["oidc-groups-claim"] !== "";
  if (prefix === "" && hasGroups && flags["oidc-allowed-group"].length === 0)
    throw invalid(
      "--oidc-groups-prefix is empty, so that a group of the provider has the rights of the group of the same name in this cluster; set a prefix, such as oidc:, list the groups with --oidc-allowed-group, or set --oidc-groups-claim to an empty text",
    );
  return prefix;
}

function allowedPrefix(
  flags: OidcFlags,
  flag: "oidc-username-prefix" | "oidc-groups-prefix",
): string {
  const prefix = flags[flag];
  if (prefix.startsWith(reserved))
    throw invalid(`--${flag} is "${prefix}", but names under "${reserved}" are Kubernetes' own`);
  return prefix;
}

function required(
  flags: OidcFlags,
  flag: Exclude<FlagName, "oidc-scope" | "oidc-allowed-group" | "oidc-issuer-url">,
): string {
  const value = flags[flag];
  if (value === "") throw invalid(`--oidc-issuer-url needs --${flag}`);
  return value;
}

/** Tokens pass there: only TLS, or this machine. */
function checkAddress(text: string, flag: string): URL {
  const url = URL.parse(text);
  // First, because the other message has the address.
  if (url !== null && (url.username !== "" || url.password !== "" || /[?#]/.test(text)))
    throw invalid(`${flag} has a user, a query or a fragment, which such an address cannot have`);
  if (url === null || !isSecure(url))
    throw invalid(
      `${flag} is "${text}", which is not an https:// address (http:// is allowed for localhost, 127.0.0.1 and [::1] alone)`,
    );
  return url;
}

/** Whether nobody else reads what is sent to this address. */
export function isSecure({ protocol, hostname }: Pick<URL, "protocol" | "hostname">): boolean {
  return (
    protocol === "https:" ||
    (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname))
  );
}

function invalid(message: string): AppError {
  return new AppError(commonErrors.CONFIG_INVALID, message);
}
