/** Connections that keep the egress policy: it is applied to the addresses that a name resolves to, when the connection is made. */
import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import type { buildConnector } from "undici";
import { buildConnector as connectorOf } from "../../../runtime/undici/index.ts";
import { type EgressPolicy, egressProblem } from "./egress.ts";

/** A connection that the egress policy denies. The message has no address: the tenant may not know the network. */
export class EgressDenied extends Error {
  readonly code = "EGRESS_DENIED";
}

/** Resolves a name to all of its addresses. */
export type ResolveAll = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * Throws EgressDenied for a host that is itself an address, or a name of this machine, that the policy denies. Also for requests
 * through a proxy, which resolves all other names itself. `subject`: what has the address, for the message.
 */
export function checkHost(url: URL, policy: EgressPolicy, subject = "the host"): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isThisMachine = /(^|\.)localhost\.?$/i.test(host);
  if (isIP(host) === 0 && !isThisMachine) return;
  const address = isThisMachine ? "127.0.0.1" : host;
  const port = portOf(url.protocol, url.port);
  permitted([{ address, family: isIP(address) }], { port, policy, subject });
}

/** `options`: what undici's connector takes. */
export function createEgressConnector(
  options: buildConnector.BuildOptions,
  policy: EgressPolicy,
  resolveAll: ResolveAll = resolveBySystem,
  subject = "the host",
): buildConnector.connector {
  /** By port: a lookup does not know it, and each connector keeps the TLS sessions of its hosts. */
  const connectors = new Map<number, buildConnector.connector>();

  function connectorTo(port: number): buildConnector.connector {
    const known = connectors.get(port);
    if (known !== undefined) return known;
    const connector = connectorOf({
      ...options,
      lookup: policedLookup(port, policy, resolveAll, subject),
    });
    if (connectors.size >= maxConnectors) connectors.clear();
    connectors.set(port, connector);
    return connector;
  }

  return (target, callback) => {
    const port = portOf(target.protocol, target.port);
    try {
      // Node calls no lookup for a host that is an address.
      const host = target.hostname.includes(":") ? `[${target.hostname}]` : target.hostname;
      checkHost(new URL(`http://${host}:${port}`), policy, subject);
    } catch (thrown) {
      callback(thrown instanceof Error ? thrown : new Error(String(thrown)), null);
      return;
    }
    connectorTo(port)(target, callback);
  };
}

/** The addresses of a host that the policy permits; rejects with EgressDenied when there is none. */
export async function permittedAddresses(
  { host, port }: { readonly host: string; readonly port: number },
  policy: EgressPolicy,
  resolveAll: ResolveAll = resolveBySystem,
  subject = "the host",
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  checkHost(new URL(`http://${host.includes(":") ? `[${host}]` : host}:${port}`), policy, subject);
  const addresses =
    isIP(host) === 0
      ? await new Promise<readonly LookupAddress[]>((resolve, reject) => {
          resolveAll(host, (error, found) => (error === null ? resolve(found) : reject(error)));
        })
      : [{ address: host, family: isIP(host) }];
  return permitted(addresses, { port, policy, subject });
}

/** A lookup that gives only the addresses to which the policy permits connections. */
export function policedLookup(
  port: number,
  policy: EgressPolicy,
  resolveAll: ResolveAll = resolveBySystem,
  subject = "the host",
): LookupFunction {
  return (hostname, { all }, callback) => {
    resolveAll(hostname, (error, addresses) => {
      if (error !== null) {
        callback(error, "");
        return;
      }
      try {
        const [first, ...others] = permitted(addresses, { port, policy, subject });
        if (all === true) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      } catch (thrown) {
        callback(thrown instanceof Error ? thrown : new Error(String(thrown)), "");
      }
    });
  };
}

/** Ports of one pool; a repository has one. */
const maxConnectors = 64;

/** The addresses that the policy permits; throws EgressDenied when there is none. */
function permitted(
  addresses: readonly LookupAddress[],
  to: { readonly port: number; readonly policy: EgressPolicy; readonly subject: string },
): readonly [LookupAddress, ...LookupAddress[]] {
  const { port, policy, subject } = to;
  const own = ownAddresses();
  const problems = addresses.map(({ address }) => egressProblem({ address, port }, policy, own));
  const [first, ...others] = addresses.filter((_, at) => problems[at] === undefined);
  if (first !== undefined) return [first, ...others];
  throw new EgressDenied(`${subject} has ${problems[0] ?? "no address"}`);
}

/** Read each time: interfaces come and go. */
function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => address),
  );
}

function resolveBySystem(hostname: string, callback: Parameters<ResolveAll>[1]): void {
  systemLookup(hostname, { all: true }, callback);
}

const defaultPorts: Readonly<Record<string, number>> = { "https:": 443, "socks5:": 1080 };

/** The port of an address, by default its protocol's. */
export function portOf(protocol: string, port: string): number {
  return port === "" ? (defaultPorts[protocol] ?? 80) : Number(port);
}
