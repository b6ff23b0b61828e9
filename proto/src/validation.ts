/**
 * Validation of what the other side sent: sizes, names, numbers and printable text. A message that the contract does not
 * allow is rejected with a WireError. Pure.
 */
import type { DeploymentKey } from "./deployment-state.ts";

/** A message that the contract does not allow. Its stream is ended. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** Limits of one message; a message beyond them is rejected. */
export const wireLimits = {
  /** Names of Kubernetes objects end at 253 characters; UIDs, digests and addresses are shorter than this. */
  nameChars: 512,
  messageChars: 16_384,
  deployments: 10_000,
  referencedObjects: 10_000,
  capabilities: 32,
  notReady: 10,
  resources: 64,
  conditions: 16,
  history: 5,
  tests: 16,
  remarks: 4,
  waitsFor: 3,
  sources: 8,
  drifted: 10,
  driftFields: 4,
  driftHistory: 5,
  targetPaths: 2_000,
  planKeyBytes: 64,
  planObjects: 256,
  labels: 200,
  authoritiesChars: 65_536,
  chunkBytes: 32 * 1024,
  /** The limit of all chunks of a request. */
  answerBytes: 4 * 1024 * 1024,
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

/** An identifier, such as a name, a UID or a digest. */
export function text(value: string, field: string): string {
  atMost(value.length, wireLimits.nameChars, field);
  if (!isPrintable(value))
    throw new WireError(`${field} has characters that are not allowed in it`);
  return value;
}

/** A text on one line that is only displayed: cleaned, not rejected, so that an odd chart version does not end the stream. */
export function shown(value: string): string {
  return cleanText(value, wireLimits.nameChars).replace(/[\t\n]/g, " ");
}

/** A message for people, of several lines. */
export function long(value: string, field: string): string {
  atMost(value.length, wireLimits.messageChars, field);
  return cleanText(value, wireLimits.messageChars);
}

export function atMost(size: number, limit: number, field: string): void {
  if (size > limit) throw new WireError(`${field} has length ${size}; the limit is ${limit}`);
}

/** A non-negative integer that a number holds exactly. */
export function whole(value: string, field: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new WireError(`${field} is ${shown(value)}, which is out of range`);
  return number;
}

// C0 and C1 without tab and newline, and characters that change the direction of the text after them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const allUnprintable = new RegExp(unprintable, "g");
const replacement = "\ufffd";

/** Whether the text has only characters of a name, a UID or a digest. */
export function isPrintable(value: string): boolean {
  return !unprintable.test(value) && !/[\t\n]/.test(value) && value.isWellFormed();
}

/** Text that is safe for logs, statuses and terminals, at most `mostChars` long: control characters are replaced. */
export function cleanText(value: string, mostChars: number): string {
  // Cut first: the cut may leave half of a surrogate pair.
  return value.slice(0, mostChars).toWellFormed().replace(allUnprintable, replacement);
}
