/** How long the hub's event loop is held up while it reads sources that are made to stop it, beside healthy HelmOps. */
import { join } from "node:path";
import { helmOps } from "@flotilla/shared/api";
import { hubNamespace, workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import {
  buckets,
  gitRepositories,
  type HelmChart,
  helmCharts,
  ociRepositories,
} from "@flotilla/shared/flux";
import { createInformer } from "@flotilla/shared/kube/cache";
import { leases } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import {
  createHostileSources,
  hostileSources,
  startHostileServer,
} from "../src/helmrelease/hostile-server.ts";
import { hostileCharts, hostileFiles } from "../src/helmrelease/hostile-tree.ts";
import { type BenchFleet, oneCluster, untilCount, untilNone } from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";
import { createSource } from "./measure/flux-objects.ts";
import { hubMetric } from "./measure/hub-metric.ts";
import { goFirst } from "./measure/priority.ts";

const healthy = 20;
const eventLoopLag = "nodejs_eventloop_lag_max_seconds";

export async function besideHostileSources(bench: BenchFleet): Promise<readonly Figure[]> {
  const { hub, dir } = bench.fleet;
  const root = join(dir, "hostile-git");
  const repository = await createRepository(root, "hostile.git");
  await repository.commit(await hostileFiles());
  const server = await startGitHttpServer(root);
  const source = { kind: "GitRepository", name: "hostile" } as const;
  const charts = hostileCharts(source.name);
  const slow = await startHostileServer();
  const others = hostileSources(namespace, slow.host);
  const count = charts.size + others.buckets.length + others.ociRepositories.length;
  const stop = new AbortController();
  const watched = createInformer<HelmChart>({
    ...{ rest: hub, resource: helmCharts, log: silentLog(), namespace },
  });
  const watching = watched.run(stop.signal);

  /** The longest lag, ms, while healthy HelmOps get ready and `others` do what they do. */
  const lagWith = async (round: string, others: () => Promise<unknown>): Promise<number> => {
    const names = Array.from({ length: healthy }, (_, index) => `${round}-${index}`);
    // The histogram of the lag is emptied when it is read.
    await hubMetric(bench, eventLoopLag);
    await Promise.all([
      others(),
      ...names.map((name) => bench.createHelmOp(name, "config", oneCluster)),
      bench.ready(...names),
    ]);
    const lagMs = (await hubMetric(bench, eventLoopLag)) * 1_000;
    for (const name of names) await hub.delete(helmOps, { namespace, name });
    await untilNone(bench.helmOps, ({ metadata }) => names.includes(metadata.name));
    return lagMs;
  };
  const readAll = async (): Promise<void> => {
    await createHostileSources(hub, others);
    await createSource(hub, source, { url: server.url(repository.name), interval: "1h" });
    for (const [name, spec] of charts)
      await hub.create<HelmChart>(helmCharts, {
        ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "HelmChart" },
        ...{ metadata: { namespace, name }, spec },
      });
    await untilCount(watched, charts.size, ({ status }) =>
      ["Ready", "FetchFailed"].some(
        (type) => findCondition(status?.conditions, type)?.status === "True",
      ),
    );
  };
  const transitions = async () =>
    (await hub.get(leases, { namespace: hubNamespace, name: "flotilla-hub" }))?.spec
      ?.leaseTransitions;

  await goFirst(bench.fleet.hubProcess().identity.pid);
  try {
    // Not counted: caches fill.
    await lagWith("lag-first", () => Promise.resolve());
    const before = await lagWith("lag-before", () => Promise.resolve());
    const led = await transitions();
    const beside = await lagWith("lag-beside", readAll);
    const stillLeads = (await transitions()) === led;
    const after = await lagWith("lag-after", () => Promise.resolve());
    return [
      {
        what: `the longest lag of the hub's event loop while it reads ${count} hostile sources and charts beside ${healthy} HelmOps`,
        unit: "ms",
        value: beside,
        // Both, because two cores that others use too are not always as fast.
        baseline: { what: "without them, before and after", value: (before + after) / 2 },
        bar: 100,
        detail: `${stillLeads ? "no change of leader" : "the leader changed"}; the clock that measures it ticks every 10 ms, which are part of it`,
      },
    ];
  } finally {
    for (const name of charts.keys()) await hub.delete(helmCharts, { namespace, name });
    await hub.delete(gitRepositories, { namespace, name: source.name });
    for (const { metadata } of others.buckets) await hub.delete(buckets, metadata);
    for (const { metadata } of others.ociRepositories) await hub.delete(ociRepositories, metadata);
    await slow[Symbol.asyncDispose]();
    stop.abort();
    await watching;
    await server[Symbol.asyncDispose]();
  }
}
