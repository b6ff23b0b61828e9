/** Cycles of deployments that wait for each other. Pure. */

/**
 * A shortest way from a deployment over those that it waits for back to itself, with it at both ends; undefined: there is none.
 * `waitsFor`: of each deployment that waits.
 */
export function cycleThrough(
  start: string,
  waitsFor: (name: string) => readonly string[],
): readonly string[] | undefined {
  const visited = new Set<string>();
  const queue: (readonly string[])[] = waitsFor(start).map((name) => [start, name]);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const last = path.at(-1) ?? start;
    if (last === start) return path;
    if (visited.has(last)) continue;
    visited.add(last);
    for (const next of waitsFor(last)) queue.push([...path, next]);
  }
  return undefined;
}

/** Names in a message. */
const maxNames = 5;

export function describeCycle(cycle: readonly string[]): string {
  const names =
    cycle.length <= maxNames + 1
      ? cycle
      : [...cycle.slice(0, maxNames), `${cycle.length - maxNames - 1} more`, ...cycle.slice(-1)];
  return `dependency cycle: ${names.join(" → ")}; remove one of them from a dependsOn`;
}
