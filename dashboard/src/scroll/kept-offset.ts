/**
 * How far regions were scrolled when a page was left, in its entry of the browser's history: Back shows what was shown, which
 * browsers do for the page alone. Pure.
 */

/** `state`: of the entry, by anybody; `region`: its name. 0 if none is known. */
export function offsetIn(state: unknown, region: string): number {
  const offset = partsOf(state)[keyOf(region)];
  return typeof offset === "number" ? offset : 0;
}

/** Others of the same page are kept. */
export function withOffset(
  state: unknown,
  region: string,
  offset: number,
): Readonly<Record<string, unknown>> {
  return { ...partsOf(state), [keyOf(region)]: offset };
}

function partsOf(state: unknown): Readonly<Record<string, unknown>> {
  return typeof state === "object" && state !== null ? { ...state } : {};
}

function keyOf(region: string): string {
  return `scrolled ${region}`;
}
