/**
 * Resolves YAML scalars as Helm does: `resolve` of go.yaml.in/yaml v2, which is neither YAML 1.1 nor 1.2.
 *
 * `yes` is true, `010` is 8 and so is `08` (not octal, hence a float), `0o17` is 15; a date, `12:30:45` and a float that is
 * too large are strings.
 */

/** A resolved scalar. Integers are exact; as a key they differ from floats. */
export type ScalarValue =
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "invalid"; readonly why: string };

const standard = "tag:yaml.org,2002:";
const words: ReadonlyMap<string, ScalarValue> = new Map([
  ...wordsFor({ kind: "bool", value: true }, "y Y yes Yes YES true True TRUE on On ON"),
  ...wordsFor({ kind: "bool", value: false }, "n N no No NO false False FALSE off Off OFF"),
  ...wordsFor({ kind: "null" }, " ~ null Null NULL"),
  ...wordsFor({ kind: "float", value: Number.NaN }, ".nan .NaN .NAN"),
  ...wordsFor(
    { kind: "float", value: Number.POSITIVE_INFINITY },
    ".inf .Inf .INF +.inf +.Inf +.INF",
  ),
  ...wordsFor({ kind: "float", value: Number.NEGATIVE_INFINITY }, "-.inf -.Inf -.INF"),
]);
const integer = /^([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
/** A sign after the prefix: Go removes the prefix and parses the rest. */
const signedBinary = /^0b([+-])([01]+)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** After a leading dot Go accepts underscores between digits only; elsewhere it removes them all first. */
const dotFloat = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const date =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?(?:Z|[+-]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?)?$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;
const maxUint64 = 2n ** 64n - 1n;

/** Resolves a scalar that is plain or has a tag; `tag` is the long form, or empty. */
export function resolveScalar(tag: string, text: string): ScalarValue {
  const value: ScalarValue = { kind: "text", value: text };
  switch (tag) {
    case "":
      return resolvePlain(text);
    case `${standard}binary`:
      return decodeBinary(text);
    case `${standard}null`:
      return expect(resolvePlain(text), "null");
    case `${standard}bool`:
      return expect(resolvePlain(text), "bool");
    case `${standard}int`:
      return expect(resolvePlain(text), "int");
    case `${standard}float`:
      return toFloat(resolvePlain(text));
    case `${standard}timestamp`:
      return date.test(text) ? value : { kind: "invalid", why: "it is not a valid !!timestamp" };
    default:
      return value;
  }
}

function resolvePlain(text: string): ScalarValue {
  const asText: ScalarValue = { kind: "text", value: text };
  if (text !== "" && !/^[-+0-9yYnNtTfFoO~.]/.test(text)) return asText;
  const word = words.get(text);
  if (word !== undefined) return word;
  if (text.startsWith(".") && !dotFloat.test(text)) return asText;
  if (!/^[-+0-9.]/.test(text)) return asText;

  const plain = text.replaceAll("_", "");
  return parseInteger(plain) ?? parseFloatText(plain) ?? parseSignedBinary(plain) ?? asText;
}

function parseInteger(text: string): ScalarValue | undefined {
  const [, sign, digits] = integer.exec(text) ?? [];
  if (sign === undefined || digits === undefined) return undefined;
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits}` : digits);
  const value = sign === "-" ? -magnitude : magnitude;
  const max = sign === "" ? maxUint64 : maxInt64;
  return value >= minInt64 && value <= max ? { kind: "int", value } : undefined;
}

function parseSignedBinary(text: string): ScalarValue | undefined {
  const [, sign, digits] = signedBinary.exec(text) ?? [];
  return sign === undefined || digits === undefined
    ? undefined
    : parseInteger(`${sign}0b${digits}`);
}

/** A number that is too large for a float is an error in Go, and then a string. */
function parseFloatText(text: string): ScalarValue | undefined {
  if (!float.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? { kind: "float", value } : undefined;
}

/** The empty string is one of the words for null, so that list starts with a space. */
function wordsFor(value: ScalarValue, list: string): readonly (readonly [string, ScalarValue])[] {
  return list.split(" ").map((word) => [word, value] as const);
}

function expect(value: ScalarValue, kind: "null" | "bool" | "int"): ScalarValue {
  return value.kind === kind ? value : { kind: "invalid", why: `it is not a valid !!${kind}` };
}

function toFloat(value: ScalarValue): ScalarValue {
  if (value.kind === "float") return value;
  if (value.kind === "int" && value.value <= maxInt64)
    return { kind: "float", value: Number(value.value) };
  return { kind: "invalid", why: "it is not a valid !!float" };
}

function decodeBinary(text: string): ScalarValue {
  const packed = text.replace(/[\r\n]/g, "");
  if (!base64.test(packed)) return { kind: "invalid", why: "its !!binary is not base64" };
  return { kind: "text", value: Buffer.from(packed, "base64").toString() };
}
