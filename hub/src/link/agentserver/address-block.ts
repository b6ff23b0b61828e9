/** Who counts as one sender before it has authenticated. Pure. */

/**
 * The address itself, or the /64 of an IPv6 address: a host gets at least one, and may use any address of it. IPv4 addresses
 * that a socket for both families shows as IPv6 are IPv4 addresses.
 */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [head = "", tail] = address.split("::");
  const before = head.split(":").filter(isGroup);
  const after = tail?.split(":").filter(isGroup) ?? [];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}

function isGroup(text: string): boolean {
  return text !== "";
}
