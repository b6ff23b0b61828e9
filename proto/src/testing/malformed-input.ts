/** Malformed input, as an attacker might send it. */
import fc from "fast-check";
import { wireLimits } from "../index.ts";

/** Texts that are not valid names: control characters, lone surrogates, direction changes, excessive length. */
export const malformedText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    "a\u0000b",
    "\u001b[2J\u001b[31mred",
    "first\nsecond",
    "\u202egnp.exe",
    "\ud83d",
    "../../etc/passwd",
    "__proto__",
    "constructor",
    "fleet-default/other",
    "x".repeat(wireLimits.nameChars + 1),
    "x".repeat(wireLimits.messageChars + 1),
  ),
);

/** The bytes with some of them changed, removed, duplicated or truncated. */
export function mutated(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const at = fc.nat(Math.max(0, bytes.length - 1));
  const change = fc.oneof(
    fc.tuple(at, fc.nat(255)).map(
      ([index, byte]) =>
        (input: Uint8Array) =>
          input.with(Math.min(index, input.length - 1), byte),
    ),
    at.map((index) => (input: Uint8Array) => input.slice(0, index)),
    fc.tuple(at, at).map(
      ([from, to]) =>
        (input: Uint8Array) =>
          Buffer.concat([input.subarray(0, from), input.subarray(Math.max(from, to))]),
    ),
    fc.tuple(at, at).map(
      ([from, to]) =>
        (input: Uint8Array) =>
          Buffer.concat([input.subarray(0, to), input.subarray(from)]),
    ),
  );
  return fc
    .array(change, { minLength: 1, maxLength: 4 })
    .map((changes) =>
      changes.reduce((input, apply) => (input.length === 0 ? input : apply(input)), bytes),
    );
}
