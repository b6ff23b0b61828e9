/** The fleet of all tests of bad input: one cluster, working and faulty chart sources, and the state of HelmOps in it. */
import { freePort } from "@flotilla/local/process";
import { startTestRegistry } from "@flotilla/local/testing";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { afterAll } from "vitest";
import { type ChartArchive, configChart } from "../harness/chart-archive.ts";
import type { ChartServer } from "../harness/chart-server.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { type ReleaseRecord, releaseRecords } from "../harness/releases.ts";
import { currentCondition } from "../harness/wait.ts";
import { isReady } from "../harness/workspace.ts";
import { type FaultyRepositories, startFaultyRepositories } from "./faulty-repositories.ts";
import { pushPlainArtifact } from "./plain-artifact.ts";

/** A merge patch of a spec. */
export type Change = Readonly<Record<string, unknown>>;

/** The objects of a HelmOp that an unwanted deployment would change. */
export interface Snapshot {
  readonly bundle: unknown;
  readonly deployment: unknown;
  readonly records: readonly ReleaseRecord[];
}

export interface BadInputFleet {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** `web` 1.0.0. */
  readonly good: ChartArchive;
  /** Has `web` 1.0.0 and 1.1.0-rc.1, and several other charts. */
  readonly charts: ChartServer;
  readonly faulty: FaultyRepositories;
  /** `oci://host:port`, with `charts/web` 1.0.0 and `plain/thing` 1.0.0, which is not a chart. */
  readonly oci: string;
  /** Where nothing listens. */
  readonly closedPort: number;
  /** It must be shown nowhere, wherever it stands in an address. */
  readonly password: string;
  /** A HelmOp that is installed without an error. */
  readonly goodSpec: HelmOp["spec"];
  /** Replaces the whole spec. */
  replaceSpec(name: string, spec: HelmOp["spec"]): Promise<void>;
  /** Waits until Accepted has this status for the current generation. */
  accepted(name: string, status: "True" | "False"): Promise<HelmOp>;
  /** Waits until it is accepted, and ready at 1.0.0 in the one cluster. */
  ready(name: string): Promise<HelmOp>;
  /** Helm's records of a release; without a name, of all. */
  records(release?: string): Promise<readonly ReleaseRecord[]>;
  snapshot(name: string): Promise<Snapshot>;
}

/** The namespace of all releases. */
const releaseNamespace = "bad-input";

/** Lasts for the file. */
export async function startBadInputFleet(): Promise<BadInputFleet> {
  const good = await configChart("web", "1.0.0");
  const faulty = await startFaultyRepositories(good);
  afterAll(() => faulty.close());
  const [{ fleet, charts, cluster }, registry] = await Promise.all([
    startFleetForFile({ clusters: [{ env: "prod" }] }),
    startTestRegistry({ onTestFinished: afterAll }),
  ]);
  const others = ["db", "cache", "queue", "proxy", "mail", "search"];
  charts.publish(
    good,
    await configChart("web", "1.1.0-rc.1"),
    ...(await Promise.all(others.map((name) => configChart(name, "1.0.0")))),
  );
  await pushChart(fleet.helm, good, `${registry.oci}/charts`);
  await pushPlainArtifact(registry.url, "plain/thing", "1.0.0");
  const { workspace } = fleet;
  const records = (release?: string) => releaseRecords(cluster.client, releaseNamespace, release);

  return {
    fleet,
    cluster,
    good,
    charts,
    faulty,
    oci: registry.oci,
    closedPort: await freePort(),
    password: "hunter2-and-more",
    goodSpec: {
      namespace: releaseNamespace,
      targets: [{ clusterSelector: {} }],
      helm: { repo: charts.url, chart: "web", version: "1.0.0" },
    },
    async replaceSpec(name, spec) {
      const body = [{ op: "replace", path: "/spec", value: spec }];
      await fleet.hub.patch(helmOps, workspace.ref(name), { type: "json", body });
    },
    accepted: (name, status) =>
      workspace.waitForHelmOp(
        name,
        `Accepted=${status}`,
        (helmOp) => currentCondition(helmOp, "Accepted")?.status === status,
      ),
    ready: (name) =>
      workspace.waitForHelmOp(
        name,
        "ready and accepted",
        (helmOp) =>
          isReady("1.0.0", 1)(helmOp) &&
          findCondition(helmOp.status?.conditions, "Accepted")?.status === "True",
      ),
    records,
    async snapshot(name) {
      const bundle = await workspace.bundle(name);
      const deployment = await workspace.bundleDeployment(cluster.name, name);
      return {
        bundle: bundle && { uid: bundle.metadata.uid, spec: bundle.spec },
        deployment: deployment && { uid: deployment.metadata.uid, spec: deployment.spec },
        records: await records(name),
      };
    },
  };
}
