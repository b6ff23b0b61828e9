/** Times as Leases and Events carry them: RFC 3339 with microseconds. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace("Z", "000Z");
}
