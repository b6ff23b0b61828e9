/**
 * The times at which repositories are polled. Pure. A repository has an offset of its own, and is polled whenever the
 * time is that offset plus a whole number of intervals. So all HelmOps of a repository with the same interval are
 * polled at the same time and share one response, longer intervals coincide with shorter ones that divide them,
 * different repositories are spread over the whole interval, and the next time can be computed without state. The
 * offset differs for each hub: a repository with many users must not be polled by all of them in the same second.
 */

/** The status keeps times in whole seconds, so a shorter interval would always seem to be over. */
const shortestIntervalMs = 1_000;

/** Seconds; of any repository, whatever its intervals. */
export function slotOffset(repo: string, hub: string): number {
  return hashOf(`${hub} ${repo.trim().replace(/\/+$/, "").toLowerCase()}`);
}

/** The first moment after a time; both in milliseconds since 1970. */
export function slotAfter(offset: number, intervalMs: number, timeMs: number): number {
  return slotUpTo(offset, intervalMs, timeMs) + wholeSeconds(intervalMs);
}

/** The last moment that is not after a time. */
export function slotUpTo(offset: number, intervalMs: number, timeMs: number): number {
  const everyMs = wholeSeconds(intervalMs);
  const phaseMs = (offset * 1_000) % everyMs;
  return Math.floor((timeMs - phaseMs) / everyMs) * everyMs + phaseMs;
}

/** An interval as it is kept: no fraction of a second, and not less than one. */
export function wholeSeconds(intervalMs: number): number {
  return Math.max(shortestIntervalMs, Math.round(intervalMs / 1_000) * 1_000);
}

/** The same whole number for the same text (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}
