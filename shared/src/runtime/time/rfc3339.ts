/** Times as Kubernetes writes them: RFC 3339 in UTC. */

/** `2026-01-01T00:00:00Z`: whole seconds, rounded down, as `metav1.Time` has them. */
export function formatTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** `2026-01-01T00:00:00.000Z`: where the order of two writes within a second counts. */
export function formatTimeMs(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** `2026-01-01T00:00:00.000000Z`: as `metav1.MicroTime` of Leases and Events. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace("Z", "000Z");
}

/** Milliseconds since 1970; undefined for what is absent or no time. */
export function parseTime(text: string | undefined): number | undefined {
  const epochMs = Date.parse(text ?? "");
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
