/** Times as people say them. Pure. */

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** As kubectl shows ages: `12s`, `3m`, `5h`, `2d`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ["s", 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** `3m ago`, `in 5h`, `now`. */
export function relativeText(timeMs: number, nowMs: number): string {
  const differenceMs = nowMs - timeMs;
  if (Math.abs(differenceMs) < 1_000) return "now";
  return differenceMs > 0
    ? `${durationText(differenceMs)} ago`
    : `in ${durationText(-differenceMs)}`;
}

/** When something is to come: `in 5h`, `now`, and `due since 3m` once its time has passed. */
export function dueText(timeMs: number, nowMs: number): string {
  const lateMs = nowMs - timeMs;
  return lateMs < 1_000 ? relativeText(timeMs, nowMs) : `due since ${durationText(lateMs)}`;
}

/** Less than this is the time that the answer took. */
const minOffsetMs = 5_000;

/** The hub's clock minus the browser's. `hubNow`: RFC 3339, of an answer that has just arrived. */
export function clockOffsetMs(hubNow: string, nowMs: number): number {
  const offset = Date.parse(hubNow) - nowMs;
  return Math.abs(offset) < minOffsetMs ? 0 : offset;
}
