/** What an app without a strategy costs: no more than before there were any. */
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { bundleRollouts, gates } from "@flotilla/shared/api/rollout";
import { untilReady as untilHelmOpReady } from "../measure/bench-fleet.ts";
import type { Figure } from "../measure/figures.ts";
import { requestCounts } from "../measure/request-counts.ts";
import { app, type StagedFleet, untilNoWrites, writesSince } from "./staged-fleet.ts";

const mostWrites = 10;
const name = "plain";

/** One HelmOp for one cluster, created to Ready. */
export async function noStrategyFigures(fleet: StagedFleet): Promise<readonly Figure[]> {
  const { bench, observer } = fleet;
  const { hub } = bench.fleet;
  const [cluster] = observer.latest.keys();
  const like = await hub.get(helmOps, { namespace, name: app });
  if (like === undefined || cluster === undefined) throw new Error(`there is no HelmOp ${app}`);
  const before = await untilNoWrites(fleet);
  await hub.create(helmOps, {
    ...like,
    metadata: { namespace, name },
    spec: {
      helm: { chart: "https://charts.example.com/plain-1.0.0.tgz" },
      namespace: name,
      targets: [{ clusterName: cluster }],
    },
    status: {},
  });
  await untilHelmOpReady(bench.helmOps, [name]);
  await untilNoWrites(fleet);
  const writes = writesSince(before, await requestCounts(bench));
  const own = [...(await hub.list(bundleRollouts)).items, ...(await hub.list(gates)).items];
  const made = own.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
  return [
    {
      what: "writes for one HelmOp without a strategy on one cluster, created to Ready",
      unit: "writes",
      value: writes.reduce((sum, [, count]) => sum + count, 0),
      bar: mostWrites,
      detail: writes.map(([what, count]) => `${what}: ${count}`).join(", "),
    },
    {
      what: "BundleRollouts and Gates of it",
      unit: "objects",
      value: made.length,
      bar: 0,
    },
  ];
}
