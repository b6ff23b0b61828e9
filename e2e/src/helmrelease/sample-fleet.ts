/** A fleet with HelmReleases of sample charts in namespace `apps` of the hub's own cluster. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { HelmRelease, HelmReleaseSpec } from "@flotilla/shared/flux";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import type { ChartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { currentCondition } from "../harness/wait.ts";
import { chartOf, type ReleaseFleet, startReleaseFleet } from "./release-fleet.ts";
import { sampleChart } from "./sample-charts.ts";

const run = promisify(execFile);
const namespace = "apps";

export interface SampleFleet extends ReleaseFleet {
  /** The client of the hub's own cluster. */
  readonly client: ClusterClient;
  /** The path of version 1.0.0 of the sample chart. */
  readonly archive: string;
  refOf(name: string): Required<ObjectRef>;
  /** For version 1.0.0 of the sample chart unless the spec has another one. */
  install(name: string, spec?: Partial<HelmReleaseSpec>): Promise<void>;
  /** Ready with this revision of Helm. */
  readyAt(name: string, revision: number): Promise<HelmRelease>;
  /** As somebody else, in the namespace. */
  helm(...args: readonly string[]): Promise<void>;
  /** `REVISION STATUS` of Helm's records. */
  recordsOf(name: string): Promise<readonly string[]>;
  greetingOf(name: string): Promise<string | undefined>;
  /** `TYPE=STATUS REASON` of Flux's conditions. */
  conditionsOf(release: HelmRelease): readonly string[];
}

/** Lasts for the file. With versions 1.0.0 and 1.1.0 of the sample chart, and `charts`. */
export async function startSampleFleet(...charts: readonly ChartArchive[]): Promise<SampleFleet> {
  const releases = await startReleaseFleet();
  const { fleet, local } = releases;
  const { client } = local;
  const sample = await sampleChart("1.0.0");
  releases.charts.publish(sample, await sampleChart("1.1.0"), ...charts);
  await releases.createNamespace(namespace);
  const archive = join(fleet.dir, "sample.tgz");
  await writeFile(archive, sample.bytes);
  const refOf = (name: string) => ({ namespace, name });
  return {
    ...releases,
    client,
    archive,
    refOf,
    async install(name, spec = {}) {
      await releases.create(refOf(name), { ...chartOf("sample", "1.0.0"), ...spec });
    },
    readyAt: (name, revision) =>
      releases.waitFor(
        refOf(name),
        `ready with revision ${revision}`,
        (release) =>
          currentCondition(release, "Ready")?.status === "True" &&
          release.status?.history?.[0]?.version === revision,
      ),
    async helm(...args) {
      const { kubeconfig } = local.plane;
      const env = { PATH: process.env["PATH"], HOME: fleet.dir, KUBECONFIG: kubeconfig };
      await run(fleet.helm, [...args, `--namespace=${namespace}`], { env });
    },
    async recordsOf(name) {
      const records = await releaseRecords(client, namespace, name);
      return records.map(({ revision, status }) => `${revision} ${status}`);
    },
    conditionsOf: ({ status }) =>
      (status?.conditions ?? [])
        .filter(({ type }) => type !== "Accepted")
        .map(({ type, status: value, reason }) => `${type}=${value} ${reason}`),
    greetingOf: async (name) =>
      (await installedConfig(client, name, namespace))?.data?.["greeting"],
  };
}
