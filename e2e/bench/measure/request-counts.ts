/** Requests served by the hub's API server, from its own metrics. */
import type { BenchFleet } from "./bench-fleet.ts";

/** The requests that the hub's API server has served, by verb and resource, without Events and Leases. */
export async function requestCounts({
  fleet,
}: Pick<BenchFleet, "fleet">): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [, labels = "", count = "0"] of (await fleet.hub.raw("/metrics")).matchAll(
    /^apiserver_request_total\{(.*)\} (\S+)$/gm,
  )) {
    const label = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    if (["events", "leases"].includes(label("resource"))) continue;
    const what = [label("verb"), label("group"), label("resource"), label("subresource")]
      .filter(Boolean)
      .join(" ");
    counts.set(what, (counts.get(what) ?? 0) + Number(count));
  }
  return counts;
}

/** The counts that grew between two results of `requestCounts`, and by how much. */
export function since(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...after]
    .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0);
}
