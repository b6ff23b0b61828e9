/** What a thousand HelmOps that follow one repository cost: its server, and the hub's memory. */
import { apiVersion, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { configChart } from "../src/harness/chart-archive.ts";
import { startChartServer } from "../src/harness/chart-server.ts";
import {
  type BenchFleet,
  inParallel,
  memoryMb,
  untilCount,
  untilNone,
} from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";
import { heapText } from "./measure/hub-heap.ts";

const many = 1_000;
const atATime = 16;
const interval = "15s";
const rounds = 3;

function nameOf(index: number): string {
  return `polled-${index}`;
}

export async function pollingTogether(bench: BenchFleet): Promise<readonly Figure[]> {
  const hub = bench.fleet.hubProcess().identity.pid;
  const idleMb = await memoryMb(hub);
  const server = await startChartServer();
  server.publish(await configChart("polled", "1.0.0"));
  try {
    await inParallel(many, atATime, (index) =>
      bench.fleet.hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: { namespace: workspaceNamespace, name: nameOf(index) },
        spec: {
          helm: { repo: server.url, chart: "polled", version: "1.x" },
          pollingInterval: interval,
          targets: [{ clusterName: "nowhere" }],
        },
      }),
    );
    // One poll so that all polls coincide: the last ones were polled just now.
    await untilPolledAgain(bench);
    const requests: number[] = [];
    let peakMb = 0;
    for (let round = 0; round < rounds; round += 1) {
      const before = server.requests.length;
      await untilPolledAgain(bench);
      requests.push(server.requests.length - before);
      peakMb = Math.max(peakMb, await memoryMb(hub));
    }
    return [
      {
        what: `requests to one repository by ${many} HelmOps, in each interval`,
        unit: "requests",
        value: Math.max(...requests),
        bar: 1,
        detail: `in ${rounds} intervals of ${interval}: ${requests.join(", ")}`,
      },
      {
        what: `memory of the hub with ${many} HelmOps that are polled, above idle`,
        unit: "MB",
        value: peakMb - idleMb,
        bar: 150,
        detail: await heapText(bench),
      },
    ];
  } finally {
    await inParallel(many, atATime, (index) =>
      bench.fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: nameOf(index) }),
    );
    // The hub is busy until the last is deleted.
    await untilNone(bench.helmOps, ({ metadata }) => metadata.name.startsWith("polled-"));
    await server.close();
  }
}

/** Resolves once each of them was polled again. */
function untilPolledAgain({ helmOps: watched }: BenchFleet): Promise<void> {
  const before = new Map(
    Array.from({ length: many }, (_, index) => {
      const key = `${workspaceNamespace}/${nameOf(index)}`;
      return [key, watched.store.get(key)?.status?.lastPollingTriggered] as const;
    }),
  );
  return untilCount(watched, many, ({ metadata, status }) => {
    const key = `${metadata.namespace}/${metadata.name}`;
    const at = status?.lastPollingTriggered;
    return before.has(key) && at !== undefined && at !== null && at !== before.get(key);
  });
}
