/** Converts keys that are not strings, as sigs.k8s.io/yaml writes them into JSON. */
import { unreachable } from "../../runtime/errors/index.ts";
import type { ScalarValue } from "./scalar.ts";

/** The key as a string; undefined for one that JSON cannot have: null, or an integer of 2^63 and more. */
export function keyText(key: Exclude<ScalarValue, { kind: "invalid" }>): string | undefined {
  switch (key.kind) {
    case "text":
      return key.value;
    case "bool":
      return String(key.value);
    case "int":
      return key.value < 2n ** 63n ? String(key.value) : undefined;
    case "float":
      return floatText(Math.fround(key.value));
    case "null":
      return undefined;
    default:
      return unreachable(key);
  }
}

/** Go's `FormatFloat(x, 'g', -1, 32)`: the fewest digits for the same 32-bit float, with an exponent from 1e+06 on. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  if (Object.is(value, -0)) return "-0";

  const [digits = "", power = ""] = shortest(value).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return withoutExponent(digits, exponent);
  const padded = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits}e${exponent < 0 ? "-" : "+"}${padded}`;
}

function shortest(value: number): string {
  for (let fraction = 0; fraction < 9; fraction++) {
    const text = value.toExponential(fraction);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential();
}

function withoutExponent(digits: string, exponent: number): string {
  const fraction = Math.max(0, digits.replace(/[-.]/g, "").length - 1 - exponent);
  return Number(`${digits}e${exponent}`).toFixed(fraction);
}
