/** What every message is checked by: sizes, names, numbers. What fails is refused with a WireError. */

import type { DeploymentKey } from "./messages.ts";

/** A message that the contract does not allow. The stream that carried it ends. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** Bounds of what one message may carry; beyond them it is refused. */
export const wireLimits = {
  /** Names of Kubernetes objects end at 253 characters; UIDs, digests and addresses are shorter than this. */
  nameChars: 512,
  messageChars: 16_384,
  inventory: 10_000,
  referencedObjects: 10_000,
  notReady: 10,
  resources: 64,
  labels: 200,
  authoritiesChars: 65_536,
} as const;

export function key(
  wire: { readonly name: string; readonly uid: string },
  where: string,
): DeploymentKey {
  return { name: present(wire.name, `${where}.name`), uid: present(wire.uid, `${where}.uid`) };
}

export function present(value: string, field: string): string {
  if (value === "") throw new WireError(`${field} is empty`);
  return text(value, field);
}

/** What something is known or compared by. */
export function text(value: string, field: string): string {
  atMost(value.length, wireLimits.nameChars, field);
  if (!isPrintable(value)) throw new WireError(`${field} has characters that no name has`);
  return value;
}

/** What is only ever told, on one line: a chart with an odd version must not cost its cluster the connection. */
export function shown(value: string): string {
  return cleanText(value, wireLimits.nameChars).replace(/[\t\n]/g, " ");
}

export function long(value: string, field: string): string {
  atMost(value.length, wireLimits.messageChars, field);
  return cleanText(value, wireLimits.messageChars);
}

export function atMost(size: number, limit: number, field: string): void {
  if (size > limit)
    throw new WireError(`${field} is ${size} long, which is more than the ${limit} allowed`);
}

export function whole(value: string, field: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new WireError(`${field} is ${shown(value)}, which is out of range`);
  return number;
}
