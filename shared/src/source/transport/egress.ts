/**
 * Which addresses requests for tenants may go to. A tenant chooses the host of a repository, and that host chooses where a
 * redirect leads, so both could name services that only this machine reaches. Pure.
 *
 * The names of hosts are no protection, because their owner decides what they resolve to: checked is the address that a
 * connection is made to.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";

export interface EgressPolicy {
  /** Addresses of this machine; default: denied. */
  readonly allowLoopback?: boolean;
  /** Private networks; default: allowed, since most have their registry there. */
  readonly denyPrivate?: boolean;
  /** Ports of this process, which are denied on every address of this machine. */
  readonly ownPorts?: readonly number[];
}

/** An address and port that a connection would be made to. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

type Range = readonly [address: string, prefix: number];

/** Of the machine's network, and of nobody else: the metadata services of clouds hand out credentials there. */
const linkLocal = blockList(
  [
    ["169.254.0.0", 16],
    // The metadata services of Alibaba Cloud, Azure and, in IPv6, AWS.
    ["100.100.100.200", 32],
    ["168.63.129.16", 32],
  ],
  [
    ["fe80::", 10],
    ["fd00:ec2::254", 128],
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
  const ip = withoutIpv4(address);
  if (isIn(noHost, ip)) return "an address that no host has";
  if (isIn(linkLocal, ip)) return "a link-local address";
  const isLoopback = isIn(loopback, ip);
  if (policy.ownPorts?.includes(port) && (isLoopback || own.includes(ip)))
    return "a port of Flotilla itself";
  if (isLoopback && policy.allowLoopback !== true) return "a loopback address";
  if (policy.denyPrivate === true && isIn(privateNetworks, ip)) return "a private address";
  return undefined;
}

/** The IPv4 address that an IPv6 address has inside (mapped, NAT64 or 6to4), or the address itself, without its zone. */
function withoutIpv4(address: string): string {
  const ip = address.split("%", 1)[0] ?? address;
  if (!isIPv6(ip)) return ip;
  const groups = groupsOf(ip);
  const start = groups.slice(0, 6).join(":");
  const isMapped = start === "0:0:0:0:0:ffff" || start === "0:0:0:0:0:0";
  // ::1 and :: are addresses of their own.
  const isShort = start === "0:0:0:0:0:0" && groups[6] === "0";
  if ((isMapped && !isShort) || start === "64:ff9b:0:0:0:0") return ipv4Of(groups[6], groups[7]);
  return groups[0] === "2002" ? ipv4Of(groups[1], groups[2]) : ip;
}

/** The eight groups of a valid IPv6 address, in hex without leading zeros. */
function groupsOf(ip: string): readonly string[] {
  // The URL standard's form has no IPv4 part and the shortest groups.
  const plain = URL.parse(`http://[${ip}]`)?.hostname.slice(1, -1) ?? "";
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
