/**
 * Which addresses requests for tenants may go to. A tenant chooses the host of a repository, and that host chooses where a
 * redirect leads, so both could name services that only this machine reaches. Pure.
 *
 * The names of hosts are no protection, because their owner decides what they resolve to: checked is the address that a
 * connection is made to.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

export interface EgressPolicy {
  /** Addresses of this machine; default: denied. */
  readonly allowLoopback?: boolean;
  /** Private networks; default: allowed, since most have their registry there. */
  readonly denyPrivate?: boolean;
  /** Ports of this process, which are denied on every address of this machine. */
  readonly ownPorts?: readonly number[];
  /** Networks that the administrator denies besides. */
  readonly denied?: Networks;
  /** What an address and port is that is denied besides, or undefined. IPv6 addresses are in their shortest form. */
  readonly denies?: (endpoint: Endpoint) => string | undefined;
}

/** A set of networks and single addresses. */
export interface Networks {
  has(address: string): boolean;
}

/** An address and port that a connection would be made to. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

type Range = readonly [address: string, prefix: number];

/** Addresses of the machine's network, and of nobody else: the metadata services of clouds hand out credentials there. */
const linkLocal = blockList(
  [
    ["169.254.0.0", 16],
    // The metadata services of Alibaba Cloud and Azure.
    ["100.100.100.200", 32],
    ["168.63.129.16", 32],
    // Oracle Cloud's.
    ["192.0.0.192", 32],
  ],
  [
    ["fe80::", 10],
    // AWS', and EKS Pod Identity's.
    ["fd00:ec2::", 32],
    // Google Cloud's.
    ["fd20:ce::254", 128],
  ],
);
const loopback = blockList([["127.0.0.0", 8]], [["::1", 128]]);
const noHost = blockList(
  [
    ["0.0.0.0", 8],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ],
  [
    ["::", 128],
    ["ff00::", 8],
  ],
);
const privateNetworks = blockList(
  [
    ["10.0.0.0", 8],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
    ["100.64.0.0", 10],
  ],
  [["fc00::", 7]],
);

/**
 * Why no connection may be made to an address: what it is. Undefined when it may. `own`: the addresses of this machine's
 * interfaces.
 */
export function egressProblem(
  { address, port }: Endpoint,
  policy: EgressPolicy,
  own: readonly string[],
): string | undefined {
  for (const ip of addressesIn(address)) {
    const problem = addressProblem({ address: ip, port }, policy, own);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function addressProblem(
  { address: ip, port }: Endpoint,
  policy: EgressPolicy,
  own: readonly string[],
): string | undefined {
  if (isIn(noHost, ip)) return "an address that no host has";
  if (isIn(linkLocal, ip)) return "a link-local address";
  const isLoopback = isIn(loopback, ip);
  if (policy.ownPorts?.includes(port) && (isLoopback || own.some((each) => shortest(each) === ip)))
    return "a port of Flotilla itself";
  if (isLoopback && policy.allowLoopback !== true) return "a loopback address";
  const denied = policy.denies?.({ address: ip, port });
  if (denied !== undefined) return denied;
  if (policy.denied?.has(ip) === true) return "an address that the administrator denies";
  if (policy.denyPrivate === true && isIn(privateNetworks, ip)) return "a private address";
  return undefined;
}

/** Networks such as `10.96.0.0/12` and single addresses; those that `isNetwork` does not take are left out. */
export function networksOf(texts: readonly string[]): Networks {
  const list = new BlockList();
  for (const text of texts) {
    const network = parseNetwork(text);
    if (network !== undefined) list.addSubnet(...network);
  }
  return { has: (address) => isIn(list, address) };
}

/** Whether it is a network or an address. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined;
}

function parseNetwork(
  text: string,
): readonly [address: string, prefix: number, family: "ipv4" | "ipv6"] | undefined {
  const [, address = "", length] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = isIP(address) === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (isIP(address) === 0 || prefix > bits) return undefined;
  return [address, prefix, bits === 32 ? "ipv4" : "ipv6"];
}

/** The addresses that a packet for an address may reach: itself, or the IPv4 addresses that an IPv6 address has inside. */
function addressesIn(address: string): readonly string[] {
  const ip = address.split("%", 1)[0] ?? address;
  if (!isIPv6(ip)) return [ip];
  const groups = groupsOf(ip);
  const start = groups.slice(0, 6).join(":");
  const last = ipv4Of(groups[6], groups[7]);
  // Mapped, compatible or translated; ::1 and :: are addresses of their own.
  const isCompatible = start === "0:0:0:0:0:0" && groups[6] !== "0";
  if (isCompatible || start === "0:0:0:0:0:ffff" || start === "0:0:0:0:ffff:0") return [last];
  if (start === "64:ff9b:0:0:0:0") return [last];
  return [shortest(ip), ...tunnelled(groups).filter((inside) => !inside.startsWith("0."))];
}

/** The IPv4 addresses of NAT64 with prefixes of operators (RFC 8215), 6to4, Teredo and ISATAP; of NAT64 wherever the prefix may end. */
function tunnelled(groups: readonly string[]): readonly string[] {
  const bytes = Buffer.from(groups.map((group) => group.padStart(4, "0")).join(""), "hex");
  const at = (...places: readonly number[]): string =>
    places.map((place) => bytes[place] ?? 0).join(".");
  const last = [12, 13, 14, 15];
  const isNat64 = groups.slice(0, 3).join(":") === "64:ff9b:1";
  // Byte 8 belongs to no address (RFC 6052).
  if (isNat64) return [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), at(...last)];
  if (groups[0] === "2002") return [at(2, 3, 4, 5)];
  // Its server, and the client with all bits inverted.
  if (groups[0] === "2001" && groups[1] === "0")
    return [at(4, 5, 6, 7), last.map((place) => 255 - (bytes[place] ?? 0)).join(".")];
  const isIsatap = groups[5] === "5efe" && (groups[4] === "0" || groups[4] === "200");
  return isIsatap ? [at(...last)] : [];
}

/** An address in the one form that it is compared in: of IPv6 the shortest, without a zone. */
function shortest(address: string): string {
  const ip = address.split("%", 1)[0] ?? address;
  return isIPv6(ip) ? (URL.parse(`http://[${ip}]`)?.hostname.slice(1, -1) ?? ip) : ip;
}

/** The eight groups of a valid IPv6 address, in hex without leading zeros. */
function groupsOf(ip: string): readonly string[] {
  // The URL standard's form has no IPv4 part and the shortest groups.
  const plain = shortest(ip);
  const [head = "", tail = ""] = plain.split("::", 2);
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const missing = plain.includes("::") ? 8 - left.length - right.length : 0;
  return [...left, ...Array.from({ length: missing }, () => "0"), ...right];
}

function ipv4Of(high = "0", low = "0"): string {
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 0xff, b >> 8, b & 0xff].join(".");
}

function isIn(list: BlockList, ip: string): boolean {
  return list.check(ip, isIPv4(ip) ? "ipv4" : "ipv6");
}

function blockList(v4: readonly Range[], v6: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of v4) list.addSubnet(address, prefix, "ipv4");
  for (const [address, prefix] of v6) list.addSubnet(address, prefix, "ipv6");
  return list;
}
