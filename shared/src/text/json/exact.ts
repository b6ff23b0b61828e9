/**
 * JSON whose numbers keep all their digits. An integer beyond 2^53 (an id, a byte count in chart values) would lose
 * digits as a JavaScript number. It becomes a raw JSON value instead, which `JSON.stringify` and `canonicalJson` write
 * unchanged.
 */
import { AppError, commonErrors } from "../../runtime/errors/index.ts";
import { decodeKeys, encodeKeys, hasEscapedKey } from "./escaped-keys.ts";

/** A number as its text: `JSON.rawJSON`. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** Parts of JSON that Node has and TypeScript's library does not declare yet. */
interface NewerJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

const json = JSON as unknown as NewerJson;

/**
 * Matches every text with an unsafe integer: sixteen digits in a row where a number can start. Strings may match, too, which
 * only costs time. Anchored, so that digests in hex do not match.
 */
const suspect = /[:,[\s]-?\d{16}/;
const onlyNumber = /^-?\d/;
const integer = /^-?\d+$/;

/** `JSON.parse` with exact numbers, where an unsafe integer is a `RawNumber`, and exact keys (escaped-keys.ts). */
export function parseExact(text: string): unknown {
  return hasEscapedKey(text)
    ? decodeKeys(parseNumbers(encodeKeys(text)), isRawNumber)
    : parseNumbers(text);
}

function parseNumbers(text: string): unknown {
  return suspect.test(text) || onlyNumber.test(text)
    ? json.parse(text, keepDigits)
    : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  const exact = integer.test(context.source) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return exact ? value : json.rawJSON(context.source);
}

/** Whether a parsed value is a number as its text. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

/** A number with more digits than a JavaScript number has, from its text. */
export function rawNumber(text: string): RawNumber {
  return json.rawJSON(text);
}

/** JSON with sorted keys and without spaces: equal values have equal texts. Undefined properties are omitted. */
export function canonicalJson(value: unknown): string {
  const text = write(value);
  if (text === undefined)
    throw new AppError(
      commonErrors.INTERNAL,
      `write a ${typeof value} as JSON: JSON has no such type`,
    );
  return text;
}

function write(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value))
        throw new AppError(
          commonErrors.INTERNAL,
          `write ${value} as JSON: JSON has no such number`,
        );
      return JSON.stringify(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "object":
      return value === null ? "null" : writeObject(value);
    default:
      return undefined;
  }
}

function writeObject(value: object): string | undefined {
  if (isRawNumber(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? "null").join(",")}]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON());
  const properties = value as Readonly<Record<string, unknown>>;
  let text = "";
  for (const key of Object.keys(properties).sort()) {
    const written = write(properties[key]);
    if (written !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${written}`;
  }
  return `{${text}}`;
}
