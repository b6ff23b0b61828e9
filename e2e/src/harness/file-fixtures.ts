/** Fixtures that last for a test file, which closes them after its tests. */
import { afterAll } from "vitest";
import { type ChartServer, startChartServer } from "./chart-server.ts";
import { startTestFleet, type TestCluster, type TestFleet, type TestFleetSpec } from "./fleet.ts";

export interface FileFixtures {
  readonly fleet: TestFleet;
  readonly charts: ChartServer;
  /** The fleet's first; throws when it has none. */
  readonly cluster: TestCluster;
}

/** A fleet and a chart repository that it can reach. */
export async function startFleetForFile(spec: TestFleetSpec): Promise<FileFixtures> {
  const [fleet, charts] = await Promise.all([startTestFleet(spec), startChartServer()]);
  afterAll(() => Promise.all([fleet.close(), charts.close()]));
  return {
    fleet,
    charts,
    get cluster() {
      const [first] = fleet.clusters;
      if (first === undefined) throw new Error("the fleet has no cluster");
      return first;
    },
  };
}
