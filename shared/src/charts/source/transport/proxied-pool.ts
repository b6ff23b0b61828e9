/**
 * Connections through the proxy of an access (`proxySecretRef`). The tenant names it, so that the egress policy is applied to it
 * as to the host of a repository.
 */
import type { buildConnector, Dispatcher } from "undici";
import { ProxyAgent, Socks5ProxyAgent } from "../../../runtime/undici/index.ts";
import type { ProxyAccess } from "../index.ts";
import type { EgressPolicy } from "./egress.ts";
import {
  checkHost,
  createEgressConnector,
  policedLookup,
  portOf,
  type ResolveAll,
} from "./egress-connector.ts";

export interface ProxiedPoolOptions {
  /** For connections to repositories, through the proxy. */
  readonly tls: buildConnector.BuildOptions;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly connectionsPerHost: number;
  readonly egress: EgressPolicy;
  readonly resolveAll?: ResolveAll | undefined;
}

const subject = "the proxy";

/** Throws EgressDenied for a proxy that the egress policy denies. */
export function checkProxy(proxy: ProxyAccess, policy: EgressPolicy): void {
  checkHost(new URL(proxy.address), policy, subject);
}

/** Certificates of a repository are not for its proxy, which is verified by the system's authorities. */
export function openProxiedPool(proxy: ProxyAccess, options: ProxiedPoolOptions): Dispatcher {
  const { tls, connectTimeoutMs: timeout, egress, resolveAll } = options;
  const url = new URL(proxy.address);
  if (url.protocol === "socks5:")
    return new Socks5ProxyAgent(url, {
      ...(proxy.username !== undefined && {
        username: proxy.username,
        password: proxy.password ?? "",
      }),
      connect: createEgressConnector({ timeout, allowH2: false }, egress, resolveAll, subject),
      requestTls: tls,
    });
  const lookup = policedLookup(portOf(url.protocol, url.port), egress, resolveAll, subject);
  return new ProxyAgent({
    uri: proxy.address,
    ...(proxy.username !== undefined && { token: basic(proxy.username, proxy.password) }),
    requestTls: tls,
    proxyTls: { timeout, allowH2: false, lookup },
    connections: options.connectionsPerHost,
    headersTimeout: options.idleTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    allowH2: false,
  });
}

function basic(username: string, password = ""): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
