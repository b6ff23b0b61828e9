/** What a fleet costs its hub's API server and its machines. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchFleet, memoryMb, oneCluster } from "./bench-fleet.ts";
import type { Figure } from "./figures.ts";

/** A status may be written up to a second after what it tells of. */
const settleMs = 1_500;
const idleMs = 60_000;

export async function memory(bench: BenchFleet): Promise<readonly Figure[]> {
  return [
    {
      what: "memory of the idle hub",
      unit: "MB",
      value: await memoryMb(bench.fleet.hubProcess().identity.pid),
      bar: 150,
    },
    {
      what: "memory of the idle agent",
      unit: "MB",
      value: await memoryMb(bench.cluster.agent().identity.pid),
      bar: 110,
    },
  ];
}

export async function writesForOne(bench: BenchFleet): Promise<readonly Figure[]> {
  const before = await requests(bench);
  await bench.createHelmOp("writes", "deployment", oneCluster);
  await bench.ready("writes");
  await sleep(settleMs);
  const written = since(before, await requests(bench)).filter(([what]) =>
    /^(POST|PUT|PATCH|APPLY|DELETE)/.test(what),
  );
  return [
    {
      what: "writes for one HelmOp on one cluster, created to Ready",
      unit: "writes",
      value: written.reduce((sum, [, count]) => sum + count, 0),
      bar: 10,
      detail: written.map(([what, count]) => `${what}: ${count}`).join(", "),
    },
  ];
}

export async function idleRequests(bench: BenchFleet): Promise<readonly Figure[]> {
  const before = await requests(bench);
  await sleep(idleMs);
  const made = since(before, await requests(bench));
  return [
    {
      what: "requests to the hub's API server by an idle fleet, Leases and the control plane's own apart",
      unit: "requests/min",
      value: made
        .filter(([what]) => what.includes("fleet.cattle.io"))
        .reduce((sum, [, count]) => sum + count, 0),
      bar: 30,
      detail: made.map(([what, count]) => `${what}: ${count}`).join(", "),
    },
  ];
}

/** How often each thing was asked of the hub's API server, Events and Leases apart. */
export async function requests({
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

export function since(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...after]
    .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0);
}
