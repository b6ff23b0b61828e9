/**
 * Limits of a rollout strategy: a number of clusters or partitions, or a share of them. Pure; the rules are Fleet's, its quirks
 * included: users of Fleet have chosen their numbers by them.
 */

/** As it is in a spec; null and undefined: not set. */
export type CountOrShare = number | string | null | undefined;

const wholeNumber = /^\+?\d+$/;
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * How many of `count` items a limit allows, `absent` where it is not set. Undefined: it is neither a whole number nor a percentage.
 * Where there are no items it allows one. A number in quotes is not reduced to the count, and a share is never less than one.
 */
export function limitOf(
  value: CountOrShare,
  count: number,
  absent: number | string,
): number | undefined {
  const given = value ?? absent;
  const parsed = parse(given);
  if (parsed === undefined) return undefined;
  if (count <= 0) return 1;
  switch (parsed.kind) {
    case "number":
      return Math.max(0, Math.min(parsed.number, count));
    case "text":
      return parsed.number;
    case "share":
      return shareOf(parsed.percent, count);
  }
}

/** A sentence for a limit that cannot be used, with its field and value. */
export function limitProblem(field: string, value: CountOrShare): string | undefined {
  if (limitOf(value, 1, 1) !== undefined) return undefined;
  return `${field} is ${JSON.stringify(value)}: write a whole number, or a percentage that ends with %`;
}

type Parsed =
  | { readonly kind: "number"; readonly number: number }
  | { readonly kind: "text"; readonly number: number }
  | { readonly kind: "share"; readonly percent: number };

function parse(value: number | string): Parsed | undefined {
  if (typeof value === "number")
    return Number.isInteger(value) ? { kind: "number", number: value } : undefined;
  if (wholeNumber.test(value)) {
    const number = Number(value);
    return number > 0 ? { kind: "text", number } : undefined;
  }
  const share = value.endsWith("%") ? value.slice(0, -1) : "";
  return decimal.test(share) ? { kind: "share", percent: Number(share) } : undefined;
}

/** Cut off twice, as Fleet computes it in whole numbers. */
function shareOf(percent: number, count: number): number {
  if (percent <= 0) return 1;
  return Math.max(1, Math.min(Math.trunc(Math.trunc(count * percent) / 100), count));
}
