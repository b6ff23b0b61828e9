/** What all the bad input meets: one fleet with one cluster, good sources, odd ones, and HelmOps that run already. */
import { freePort } from "@flotilla/local/process";
import { startTestRegistry } from "@flotilla/local/testing";
import type { HelmOp } from "@flotilla/shared/api";
import { afterAll } from "vitest";
import { type ChartArchive, configChart } from "../harness/chart-archive.ts";
import { type ChartServer, startChartServer } from "../harness/chart-server.ts";
import { startTestFleet, type TestCluster, type TestFleet } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { type OddRepositories, startOddRepositories } from "./faulty-repositories.ts";
import { releaseNamespace, type Workbench, workbench } from "./observed.ts";
import { pushPlainArtifact } from "./plain-artifact.ts";

export interface World {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  readonly bench: Workbench;
  /** `web` 1.0.0. */
  readonly good: ChartArchive;
  /** Has `web` 1.0.0 and 1.1.0-rc.1, and several other charts. */
  readonly charts: ChartServer;
  readonly odd: OddRepositories;
  /** `oci://host:port`, with `charts/web` 1.0.0 and `plain/thing` 1.0.0, which is no chart. */
  readonly oci: string;
  /** Where nothing listens. */
  readonly closedPort: number;
  /** What must be shown nowhere, wherever it stands in an address. */
  readonly password: string;
  /** A HelmOp that is installed without trouble. */
  readonly goodSpec: HelmOp["spec"];
}

/** It lasts for the file. */
export async function startWorld(): Promise<World> {
  const good = await configChart("web", "1.0.0");
  const charts = await startChartServer();
  afterAll(() => charts.close());
  const others = ["db", "cache", "queue", "proxy", "mail", "search"];
  charts.publish(
    good,
    await configChart("web", "1.1.0-rc.1"),
    ...(await Promise.all(others.map((name) => configChart(name, "1.0.0")))),
  );
  const odd = await startOddRepositories(good);
  afterAll(() => odd.close());
  const [fleet, registry] = await Promise.all([
    startTestFleet({ clusters: [{ env: "prod" }] }),
    startTestRegistry({ onTestFinished: afterAll }),
  ]);
  afterAll(() => fleet.close());
  await pushChart(fleet.helm, good, `${registry.oci}/charts`);
  await pushPlainArtifact(registry.url, "plain/thing", "1.0.0");
  const [cluster] = fleet.clusters;
  if (cluster === undefined) throw new Error("the fleet has no cluster");
  return {
    fleet,
    cluster,
    bench: workbench(fleet.hub, cluster),
    good,
    charts,
    odd,
    oci: registry.oci,
    closedPort: await freePort(),
    password: "hunter2-and-more",
    goodSpec: {
      namespace: releaseNamespace,
      targets: [{ clusterSelector: {} }],
      helm: { repo: charts.url, chart: "web", version: "1.0.0" },
    },
  };
}
