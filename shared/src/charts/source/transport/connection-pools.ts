/**
 * Connections to repositories: one pool for each TLS identity (authorities and client certificate) and proxy. The number of pools is
 * bounded; the least recently used one is closed first.
 */
import { createHash, createPrivateKey } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import { AppError } from "../../../runtime/errors/index.ts";
import { Agent, EnvHttpProxyAgent } from "../../../runtime/undici/index.ts";
import { chartErrors, isHome, type ProxyAccess, type RepositoryAccess } from "../index.ts";
import type { EgressPolicy } from "./egress.ts";
import { checkHost, createEgressConnector, type ResolveAll } from "./egress-connector.ts";
import { checkProxy, openProxiedPool } from "./proxied-pool.ts";

/** Proxies, in the format of the usual environment variables. */
export interface ProxySettings {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

export interface ConnectionPoolOptions {
  readonly proxy?: ProxySettings;
  readonly connectTimeoutMs: number;
  /** The longest time without any byte from a server that accepted the connection. */
  readonly idleTimeoutMs: number;
  readonly connectionsPerHost: number;
  readonly maxPools: number;
  readonly egress: EgressPolicy;
  /** For tests; default: the system's. */
  readonly resolveAll?: ResolveAll;
}

export interface ConnectionPools {
  /**
   * The pool for a request to `url` on behalf of `access`; `hasLeft`: a redirect led to another host, where credentials do not
   * follow. Throws EgressDenied for an address that the egress policy denies.
   */
  for(access: RepositoryAccess, url: URL, hasLeft: boolean): Dispatcher;
  close(): Promise<void>;
}

interface TlsIdentity {
  readonly caPem: string | undefined;
  readonly trustsOnlyCa: boolean;
  readonly insecure: boolean;
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
  readonly proxy: ProxyAccess | undefined;
}

export function createConnectionPools(options: ConnectionPoolOptions): ConnectionPools {
  const pools = new Map<string, OpenPool>();
  const closing = new Set<Promise<void>>();

  function retire({ pool }: OpenPool): void {
    const closed: Promise<void> = pool.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  return {
    for(access, url, hasLeft) {
      checkHost(url, options.egress);
      if (access.proxy !== undefined) checkProxy(access.proxy, options.egress);
      const identity = tlsIdentity(access, url, hasLeft);
      const key = createHash("sha256").update(JSON.stringify(identity)).digest("base64");
      const authorities = commonAuthorities(identity);
      const known = pools.get(key);
      const isCurrent = known?.authorities === authorities;
      if (known !== undefined && !isCurrent) retire(known);
      const found =
        known !== undefined && isCurrent ? known : openPool(identity, authorities, options);
      // A Map keeps the order of insertion; inserting it again makes it the newest.
      pools.delete(key);
      pools.set(key, found);
      if (pools.size > options.maxPools) {
        const [oldestKey, oldest] = pools.entries().next().value ?? [];
        if (oldestKey !== undefined && oldest !== undefined) {
          pools.delete(oldestKey);
          retire(oldest);
        }
      }
      return found.pool;
    },
    async close() {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all([...open.map(({ pool }) => pool.destroy()), ...closing]);
    },
  };
}

function tlsIdentity(access: RepositoryAccess, url: URL, hasLeft: boolean): TlsIdentity {
  const isSent = !hasLeft && isHome(access, url);
  const certificate = isSent ? access.clientCertificate : undefined;
  return {
    caPem: access.caPem,
    trustsOnlyCa: access.trustsOnlyCa === true,
    insecure: access.insecureSkipVerify === true,
    certPem: certificate?.certPem,
    keyPem: certificate?.keyPem,
    proxy: access.proxy,
  };
}

interface OpenPool {
  readonly pool: Dispatcher;
  /** Those that its context has beside the ones of the Secret; undefined: it has none of its own. */
  readonly authorities: readonly string[] | undefined;
}

/** What the process trusts now, for a pool with a context of its own. The same array until it changes. */
function commonAuthorities({ caPem, trustsOnlyCa, certPem }: TlsIdentity) {
  const isOwn = caPem !== undefined || certPem !== undefined;
  return isOwn && !trustsOnlyCa ? getCACertificates("default") : undefined;
}

function openPool(
  identity: TlsIdentity,
  authorities: OpenPool["authorities"],
  options: ConnectionPoolOptions,
): OpenPool {
  return { pool: dispatcherFor(identity, authorities ?? [], options), authorities };
}

function dispatcherFor(
  identity: TlsIdentity,
  authorities: readonly string[],
  options: ConnectionPoolOptions,
): Dispatcher {
  const secureContext = secureContextOf(identity, authorities);
  const tls = {
    rejectUnauthorized: !identity.insecure,
    timeout: options.connectTimeoutMs,
    ...(secureContext === undefined ? {} : { secureContext }),
  };
  if (identity.proxy !== undefined)
    return openProxiedPool(identity.proxy, { ...options, tls: { ...tls, allowH2: false } });
  const common = {
    // A proxy is the administrator's, wherever it is: connections to it have the options of `requestTls` alone.
    connect: createEgressConnector({ ...tls, allowH2: false }, options.egress, options.resolveAll),
    connections: options.connectionsPerHost,
    headersTimeout: options.idleTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    allowH2: false,
  };
  if (options.proxy === undefined) return new Agent(common);
  const { httpProxy = "", httpsProxy = "", noProxy = "" } = options.proxy;
  return new EnvHttpProxyAgent({ ...common, requestTls: tls, httpProxy, httpsProxy, noProxy });
}

/** Each handshake signs on the event loop: 37 ms with so many bits, and 212 ms with twice as many. */
const mostKeyBits = 8_192;

function keyBits(pem: string): number {
  return createPrivateKey(pem).asymmetricKeyDetails?.modulusLength ?? 0;
}

/** One context for all connections of a pool: parsing the system's authorities takes milliseconds. */
function secureContextOf(
  identity: TlsIdentity,
  authorities: readonly string[],
): SecureContext | undefined {
  if (identity.caPem === undefined && identity.certPem === undefined) return undefined;
  try {
    if (identity.keyPem !== undefined && keyBits(identity.keyPem) > mostKeyBits)
      throw new AppError(
        chartErrors.REPOSITORY_SECRET_INVALID,
        `the key of the client certificate in the Secret of the repository has more than ${mostKeyBits} bits: use one of 2048 or 4096, or of an elliptic curve`,
      );
    return createSecureContext({
      ...(identity.caPem === undefined ? {} : { ca: [...authorities, identity.caPem] }),
      ...(identity.certPem === undefined ? {} : { cert: identity.certPem, key: identity.keyPem }),
    });
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    // Without the cause: it may quote the key.
    throw new AppError(
      chartErrors.REPOSITORY_SECRET_INVALID,
      "the certificate authorities or the client certificate in the Secret of the repository are not valid PEM",
    );
  }
}
