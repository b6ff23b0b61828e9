/** A fleet of one cluster, and HelmOps of the chart `app`, which has the versions 1.0.0 and 1.1.0. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { HelmOp } from "@flotilla/shared/api";
import { type ConfigMap, configMaps } from "@flotilla/shared/kube/objects";
import { type FileFixtures, startFleetForFile } from "../harness/file-fixtures.ts";
import { waitForObject } from "../harness/wait.ts";
import { appChart } from "./test-charts.ts";

export type Spec = Partial<HelmOp["spec"]>;

export interface AppFleet extends FileFixtures {
  /** For version 1.0.0, in a namespace of the same name. */
  createHelmOp(name: string, spec?: Spec): Promise<HelmOp>;
  change(name: string, spec: Spec): Promise<void>;
  /** Resolves when the agent has withdrawn it. */
  deleteHelmOp(name: string): Promise<void>;
  /** The ConfigMap of the chart, once its greeting is as desired; `namespace`: by default that of the release's name. */
  config(
    release: string,
    isDesired?: (greeting: string) => boolean,
    namespace?: string,
  ): Promise<ConfigMap>;
  /** Runs Helm in the cluster, as one of its users does. */
  helm(...args: readonly string[]): Promise<void>;
}

const run = promisify(execFile);

/** Lasts for the file. */
export async function startAppFleet(): Promise<AppFleet> {
  const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}] });
  const { workspace } = fleet;
  charts.publish(await appChart("1.0.0"), await appChart("1.1.0"));

  return {
    fleet,
    charts,
    cluster,
    createHelmOp(name, { helm, ...others } = {}) {
      return workspace.createHelmOp(name, {
        ...others,
        helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
      });
    },
    async change(name, spec) {
      await workspace.patchHelmOp(name, spec);
    },
    async deleteHelmOp(name) {
      await workspace.deleteHelmOp(name);
      await workspace.waitUntilUndeployed(cluster.name, name);
    },
    config: (release, isDesired = () => true, namespace = release) =>
      waitForObject(
        cluster.client,
        configMaps,
        { namespace, name: `${release}-config` },
        "as desired",
        (found) => isDesired(found.data?.["greeting"] ?? ""),
      ),
    async helm(...args) {
      await run(fleet.helm, [...args], {
        env: { PATH: process.env["PATH"], HOME: fleet.dir, KUBECONFIG: cluster.plane.kubeconfig },
      });
    },
  };
}
