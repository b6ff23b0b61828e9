/** A fleet of one cluster with releases of the chart `app`, which has the versions 1.0.0 and 1.1.0. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createBootstrapSecret, ensureRegistrationToken } from "@flotilla/cli/fleet";
import type { Cluster, HelmOp } from "@flotilla/shared/api";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet, TestFleetSpec } from "../harness/fleet.ts";
import { installedConfig, releaseHistory, waitForRevision } from "../harness/releases.ts";

export interface DisasterFleet {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** Resolves when 1.0.0 is ready, in a namespace of the same name. */
  install(name: string): Promise<HelmOp>;
  create(name: string, helm?: HelmOp["spec"]["helm"]): Promise<HelmOp>;
  change(name: string, helm: HelmOp["spec"]["helm"]): Promise<void>;
  ready(name: string, version?: string): Promise<HelmOp>;
  /** `REVISION STATUS` of each revision of a release, the first one first. */
  records(name: string): Promise<readonly string[]>;
  /** Waits for a revision of a release. */
  record(name: string, revision: number, status: string): Promise<void>;
  /** The version of the chart that a release has installed, and the UID of its ConfigMap, which an upgrade keeps. */
  installed(name: string): Promise<{ readonly version?: string; readonly uid?: string }>;
  /** With `helm uninstall`, as a user of the cluster does. */
  uninstallByHand(name: string): Promise<void>;
  /** The Cluster on the hub, once it is as desired. */
  clusterThat(what: string, isDesired: (cluster: Cluster) => boolean): Promise<Cluster>;
  /** Gives the agent a new registration token. */
  giveNewToken(token: string): Promise<void>;
}

const run = promisify(execFile);

/** Lasts for the file. */
export async function startDisasterFleet(
  spec: Pick<TestFleetSpec, "ownPlanes"> = {},
): Promise<DisasterFleet> {
  const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}], ...spec });
  charts.publish(await configChart("app", "1.0.0"), await configChart("app", "1.1.0"));
  const { client } = cluster;
  const { workspace } = fleet;

  const create = (name: string, helm: HelmOp["spec"]["helm"] = {}) =>
    workspace.createHelmOp(name, {
      helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
    });
  const ready = (name: string, version = "1.0.0") => workspace.waitUntilReady(name, version, 1);

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
      await workspace.patchHelmOp(name, { helm });
    },
    records: (name) => releaseHistory(client, name),
    record: (name, revision, status) => waitForRevision(client, name, revision, status),
    async installed(name) {
      const found = await installedConfig(client, name);
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
    clusterThat: (what, isDesired) => workspace.waitForCluster(cluster.name, what, isDesired),
    async giveNewToken(token) {
      const registration = await ensureRegistrationToken(fleet.hub, workspace.namespace, token);
      await createBootstrapSecret(client, registration, { clusterName: cluster.name, labels: {} });
    },
  };
}
