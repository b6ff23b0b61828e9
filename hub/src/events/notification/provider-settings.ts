/** A Provider and its Secrets as settings for requests. Texts name keys and have none of their content. */
import { createHash } from "node:crypto";
import { createLruCache } from "@flotilla/shared/cache";
import type { Secret } from "@flotilla/shared/kube/objects";
import type { RepositoryAccess } from "@flotilla/shared/source";
import { parseGoDuration } from "@flotilla/shared/time";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import type { WrittenProvider } from "./objects.ts";
import {
  builderOf,
  type ProviderSettings,
  providerTypes,
  usesClientCertificate,
} from "./provider-types.ts";

export interface ProviderSecrets {
  /** The Secret that `secretRef` names. */
  readonly secret?: Secret | undefined;
  readonly certSecret?: Secret | undefined;
  readonly proxySecret?: Secret | undefined;
}

export interface ReadyProvider {
  readonly settings: ProviderSettings;
  readonly access: RepositoryAccess;
  /** For the requests of one event, retries included. */
  readonly timeoutMs: number;
}

const defaultTimeoutMs = 15_000;
const maxAddressChars = 2_048;

/** Why a Provider cannot deliver anything whatever its Secrets are; undefined when it may. */
export function providerProblem({ spec }: WrittenProvider): string | undefined {
  if (builderOf(spec.type) === undefined)
    return `providers of type ${spec.type} are not supported: use one of ${providerTypes.join(", ")}`;
  if (spec.serviceAccountName)
    return "spec.serviceAccountName is not supported: identities of clouds are for providers that this hub has not; use spec.secretRef";
  if (spec.commitStatusExpr)
    return "spec.commitStatusExpr is not supported: the name of a commit status is kind/name/uid";
  return undefined;
}

/** The settings, or a sentence: what is missing or invalid. */
export function readyProvider(
  provider: WrittenProvider,
  { secret, certSecret, proxySecret }: ProviderSecrets,
  parseHeaders: ParseHeaders = headersOf,
): ReadyProvider | string {
  const { spec, metadata } = provider;
  const problem = providerProblem(provider);
  if (problem !== undefined) return problem;
  for (const [field, ref, found] of [
    ["secretRef", spec.secretRef, secret],
    ["certSecretRef", spec.certSecretRef, certSecret],
    ["proxySecretRef", spec.proxySecretRef, proxySecret],
  ] as const)
    if (ref && found === undefined)
      return `the Secret ${ref.name} of spec.${field} does not exist, or is one that Providers may not use: the hub's own, a token of a ServiceAccount or of a new node, or a record of Helm`;
  const text = (key: string) => textOf(secret, key)?.trim() ?? "";
  const address = parseAddress(text("address") || (spec.address ?? ""));
  if (typeof address === "string") return address;
  const headers = parseHeaders(text("headers"));
  if (typeof headers === "string") return headers;
  const tls = usesClientCertificate(spec.type) ? tlsOf(certSecret) : {};
  if (typeof tls === "string") return tls;
  const proxy = proxyOf(provider, secret, proxySecret);
  if (typeof proxy === "string") return proxy;
  return {
    settings: {
      address,
      channel: spec.channel ?? "",
      username: text("username") || (spec.username ?? ""),
      password: text("password"),
      token: text("token"),
      headers,
      uid: metadata.uid ?? "",
    },
    access: { origin: address.origin, ...tls, ...proxy },
    timeoutMs: (spec.timeout && parseGoDuration(spec.timeout)) || defaultTimeoutMs,
  };
}

function parseAddress(text: string): URL | string {
  const url = text.length > maxAddressChars ? null : URL.parse(text);
  if (text === "") return "the Provider has no address, neither in spec.address nor in its Secret";
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    return "the address of the Provider is not a URL that starts with https:// or http://";
  return url;
}

/** The headers, or a sentence: what is invalid. */
export type ParseHeaders = (text: string) => Readonly<Record<string, string>> | string;

/** The limit of a key of Secrets: a server accepts no more in a request. */
const maxHeadersBytes = 16 * 1024;
/** Texts whose headers are kept. */
const headersCacheSize = 64;

/** Reads each text once, however often it is sent: every attempt to deliver an event has the headers. */
export function createParseHeaders(): ParseHeaders {
  const known = createLruCache<Readonly<Record<string, string>> | string>(headersCacheSize);
  return (text) => {
    if (text.length > maxHeadersBytes) return headersOf(text);
    const key = createHash("sha256").update(text).digest("base64");
    const found = known.get(key);
    if (found !== undefined) return found;
    const headers = headersOf(text);
    known.set(key, headers);
    return headers;
  };
}

function headersOf(text: string): Readonly<Record<string, string>> | string {
  if (text === "") return {};
  if (text.length > maxHeadersBytes)
    return `the key headers of the Secret has more than ${maxHeadersBytes / 1024} KiB`;
  const invalid = "the key headers of the Secret is not a YAML map of strings";
  let parsed: unknown;
  try {
    parsed = parseHelmYaml(text, { name: "headers" });
  } catch {
    return invalid;
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return invalid;
  const entries = Object.entries(parsed);
  const isUsable = entries.every(
    ([name, value]) =>
      /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) &&
      typeof value === "string" &&
      !/[\r\n\0]/.test(value),
  );
  return isUsable ? Object.fromEntries(entries) : invalid;
}

/** The authority replaces the system's, as in Flux. */
function tlsOf(
  secret: Secret | undefined,
): Pick<RepositoryAccess, "caPem" | "trustsOnlyCa" | "clientCertificate"> | string {
  if (secret === undefined) return {};
  const of = (key: string, old: string) => textOf(secret, key) ?? textOf(secret, old);
  const [caPem, certPem, keyPem] = [
    of("ca.crt", "caFile"),
    of("tls.crt", "certFile"),
    of("tls.key", "keyFile"),
  ];
  if ((certPem === undefined) !== (keyPem === undefined))
    return "the Secret of spec.certSecretRef has only one of tls.crt and tls.key";
  if (caPem === undefined && certPem === undefined)
    return "the Secret of spec.certSecretRef has neither ca.crt nor tls.crt and tls.key";
  return {
    ...(caPem !== undefined && { caPem, trustsOnlyCa: true }),
    ...(certPem !== undefined &&
      keyPem !== undefined && { clientCertificate: { certPem, keyPem } }),
  };
}

function proxyOf(
  { spec }: WrittenProvider,
  secret: Secret | undefined,
  proxySecret: Secret | undefined,
): Pick<RepositoryAccess, "proxy"> | string {
  const { address, username, password } =
    proxySecret === undefined
      ? splitUser(textOf(secret, "proxy")?.trim() || spec.proxy || "")
      : {
          address: textOf(proxySecret, "address")?.trim() ?? "",
          username: textOf(proxySecret, "username"),
          password: textOf(proxySecret, "password"),
        };
  if (address === "")
    return proxySecret === undefined ? {} : "the Secret of spec.proxySecretRef has no address";
  if (!/^(https?|socks5):\/\/[^/@]+\/?$/.test(address))
    return "the address of the proxy is not http://, https:// or socks5:// with a host";
  return {
    proxy: {
      address,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    },
  };
}

/** The deprecated forms have the user in the address. */
function splitUser(text: string): {
  readonly address: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
} {
  const url = URL.parse(text);
  if (url === null) return { address: text };
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return {
    address: `${url.protocol}//${url.host}`,
    ...(username !== "" && { username, password }),
  };
}

function textOf(secret: Secret | undefined, key: string): string | undefined {
  const encoded = secret?.data?.[key];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString();
}
