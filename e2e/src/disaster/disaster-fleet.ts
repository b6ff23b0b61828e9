/** A fleet of one cluster with what tests of disasters do and look at. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { apiVersion, type Cluster, clusters, type HelmOp, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startChartServer } from "../harness/chart-server.ts";
import {
  startTestFleet,
  type TestCluster,
  type TestFleet,
  type TestFleetSpec,
} from "../harness/fleet.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";

export interface Workbench {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** Resolves when the chart of 1.0.0 is Ready, in a namespace of the same name. */
  install(name: string): Promise<HelmOp>;
  create(name: string, helm?: HelmOp["spec"]["helm"]): Promise<HelmOp>;
  change(name: string, helm: HelmOp["spec"]["helm"]): Promise<void>;
  ready(name: string, version?: string): Promise<HelmOp>;
  /** `revision status` of each of Helm's records of a release, the first one first. */
  records(name: string): Promise<readonly string[]>;
  /** Waits for a record of Helm. */
  record(name: string, revision: number, status: string): Promise<void>;
  /** The ConfigMap that a release has made; it has the chart's version. What was never uninstalled keeps its UID. */
  installed(name: string): Promise<{ readonly version?: string; readonly uid?: string }>;
  /** The release is gone, all by itself: somebody has removed it by hand. */
  uninstallByHand(name: string): Promise<void>;
  /** The Cluster on the hub, once it is as wanted. */
  clusterThat(what: string, isWanted: (cluster: Cluster) => boolean): Promise<Cluster>;
}

const run = promisify(execFile);

/** Lasts for the file. */
export async function startWorkbench(
  spec: Pick<TestFleetSpec, "ownPlanes"> = {},
): Promise<Workbench> {
  const [fleet, charts] = await Promise.all([
    startTestFleet({ clusters: [{}], ...spec }),
    startChartServer(),
  ]);
  afterAll(() => Promise.all([fleet.close(), charts.close()]));
  charts.publish(await configChart("app", "1.0.0"), await configChart("app", "1.1.0"));
  const [cluster] = fleet.clusters;
  if (cluster === undefined) throw new Error("the fleet has no cluster");
  const { rest } = cluster;

  const create = (name: string, helm: HelmOp["spec"]["helm"] = {}) =>
    fleet.hub.create(helmOps, {
      apiVersion,
      kind: "HelmOp",
      metadata: { namespace: workspaceNamespace, name },
      spec: {
        namespace: name,
        targets: [{ clusterSelector: {} }],
        helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
      },
    });
  const ready = (name: string, version = "1.0.0") =>
    helmOpThat(fleet.hub, name, `ready with ${version}`, isReady(version, 1));

  return {
    fleet,
    cluster,
    create,
    ready,
    async install(name) {
      await create(name);
      return await ready(name);
    },
    async change(name, helm) {
      const ref = { namespace: workspaceNamespace, name };
      await fleet.hub.patch(helmOps, ref, { type: "merge", body: { spec: { helm } } });
    },
    async records(name) {
      const { items } = await rest.list(secrets, { namespace: name, labelSelector: "owner=helm" });
      return items
        .map(({ metadata }) => `${metadata.labels?.["version"]} ${metadata.labels?.["status"]}`)
        .sort();
    },
    async record(name, revision, status) {
      await objectThat(
        rest,
        secrets,
        { namespace: name, name: `sh.helm.release.v1.${name}.v${revision}` },
        status,
        (found) => found?.metadata.labels?.["status"] === status,
      );
    },
    async installed(name) {
      const found = await rest.get(configMaps, { namespace: name, name: `${name}-config` });
      const version = found?.data?.["version"];
      const uid = found?.metadata.uid;
      return { ...(version !== undefined && { version }), ...(uid !== undefined && { uid }) };
    },
    async uninstallByHand(name) {
      await run(fleet.helm, ["uninstall", name, `--namespace=${name}`], {
        env: {
          PATH: process.env["PATH"],
          HOME: fleet.dir,
          KUBECONFIG: cluster.plane.kubeconfig,
        },
      });
    },
    async clusterThat(what, isWanted) {
      const found = await objectThat(
        fleet.hub,
        clusters,
        { namespace: workspaceNamespace, name: cluster.name },
        what,
        (object) => object !== undefined && isWanted(object),
      );
      if (found === undefined) throw new Error(`Cluster ${cluster.name} is not there`);
      return found;
    },
  };
}
