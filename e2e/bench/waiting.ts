/** How long HelmOps take beside others that wait for pods that never become ready. */
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { type ChartArchive, chartArchive } from "../src/harness/chart-archive.ts";
import {
  type BenchFleet,
  oneCluster,
  timed,
  untilCount,
  untilNone,
} from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";

const waiting = 20;
const others = 30;

export async function besideWaitingReleases(bench: BenchFleet): Promise<readonly Figure[]> {
  const installOthers = async (round: string): Promise<void> => {
    const names = Array.from({ length: others }, (_, index) => `${round}-${index}`);
    await Promise.all(names.map((name) => bench.createHelmOp(name, "config", oneCluster)));
    await bench.ready(...names);
  };
  bench.publish(await stuckChart());
  const stuck = Array.from({ length: waiting }, (_, index) => `stuck-${index}`);
  // Not counted: caches fill.
  await installOthers("filling");
  const before = await timed(() => installOthers("without"));
  await Promise.all(
    stuck.map((name) => bench.createHelmOp(name, "stuck", oneCluster, { timeout: "10m" })),
  );
  // Their installation is not the cost of waiting.
  await untilCount(
    bench.helmOps,
    waiting,
    ({ metadata, status }) =>
      stuck.includes(metadata.name) &&
      findCondition(status?.conditions, "Released")?.status === "Unknown",
  );
  const value = await timed(() => installOthers("with"));
  for (const name of stuck)
    await bench.fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name });
  await untilNone(bench.helmOps, ({ metadata }) => stuck.includes(metadata.name));
  const after = await timed(() => installOthers("again"));
  const alone = (before + after) / 2;
  return [
    {
      what: `${others} HelmOps to Ready beside ${waiting} releases that never become ready`,
      unit: "ms",
      value,
      baseline: { what: "without them, before and after", value: alone },
      bar: 1.25 * alone,
    },
  ];
}

/** Its pod has no node to run on. */
function stuckChart(): Promise<ChartArchive> {
  return chartArchive({
    name: "stuck",
    version: "1.0.0",
    templates: {
      "deployment.yaml": [
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata: {name: stuck}",
        "spec:",
        "  selector: {matchLabels: {app: stuck}}",
        "  template:",
        "    metadata: {labels: {app: stuck}}",
        "    spec:",
        "      nodeSelector: {kubernetes.io/hostname: none}",
        "      containers: [{name: main, image: example.com/main}]",
        "",
      ].join("\n"),
    },
  });
}
