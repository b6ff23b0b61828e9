/** What every measurement needs: a fleet, a repository, and the objects of the hub. */
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiVersion, type Condition, type HelmOp, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import type { Informer } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import {
  type ChartArchive,
  chartArchive,
  configChart,
  deploymentChart,
} from "../../src/harness/chart-archive.ts";
import { startChartServer } from "../../src/harness/chart-server.ts";
import { startTestFleet, type TestCluster, type TestFleet } from "../../src/harness/fleet.ts";
import type { EntryFiles } from "../../src/harness/processes.ts";
import { imagePrograms } from "./image-programs.ts";
import { type WatchedObjects, watchObjects } from "./watched-objects.ts";

/** `large`: 80 objects; of its Deployments as many never become ready as the value `stuck` says. */
export type BenchChart = "config" | "deployment" | "large";

export interface BenchFleet extends WatchedObjects {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** The URL of the repository that has the charts. */
  readonly repositoryUrl: string;
  /** Adds charts to the repository. */
  publish(...charts: readonly ChartArchive[]): void;
  /** `chart`: one of `BenchChart`, or one that was published. */
  createHelmOp(
    name: string,
    chart: string,
    targets: HelmOp["spec"]["targets"],
    options?: BenchOptions,
  ): Promise<void>;
  ready(...names: readonly string[]): Promise<void>;
  /** `helm upgrade --install` of the same chart from a file, as a user runs it. */
  bareHelm(name: string, chart: BenchChart): Promise<void>;
}

export type ChartValues = Readonly<Record<string, unknown>>;

export interface BenchOptions {
  readonly values?: ChartValues;
  readonly timeout?: string;
  readonly driftDetection?: HelmOp["spec"]["driftDetection"];
}

/** The one cluster with an agent. */
export const oneCluster: HelmOp["spec"]["targets"] = [{ clusterName: "cluster-1" }];

/** What the fleet runs. */
export interface BenchPrograms {
  /** Default: the sources of this version. */
  readonly entryFiles?: EntryFiles;
  readonly hubFlags?: readonly string[];
}

/** By default with the programs that the images have. */
export async function startBenchFleet(programs?: BenchPrograms): Promise<BenchFleet> {
  const { entryFiles, hubFlags = [] } = programs ?? {
    entryFiles: await imagePrograms(),
    // Not the default port: another hub on this machine may have it.
    hubFlags: ["--replica-listen=127.0.0.1:0"],
  };
  const fleet = await startTestFleet({
    clusters: [{}],
    ownPlanes: true,
    entryFiles: () => entryFiles,
    hubFlags: () => hubFlags,
  });
  const [cluster] = fleet.clusters;
  if (cluster === undefined) throw new Error("a fleet with one cluster has one");
  const server = await startChartServer();
  const charts = {
    config: await configChart("config", "1.0.0"),
    deployment: await deploymentChart("deployment", "1.0.0"),
    large: await largeChart(),
  };
  server.publish(...Object.values(charts));
  const home = join(fleet.dir, "bare-helm");
  await mkdir(home);
  for (const [name, { bytes }] of Object.entries(charts))
    await writeFile(join(home, `${name}.tgz`), bytes);

  const watched = await watchObjects(fleet.hub);

  return {
    fleet,
    cluster,
    ...watched,
    repositoryUrl: server.url,
    publish: server.publish,
    async createHelmOp(name, chart, targets, { values, ...options } = {}) {
      const helmOp: HelmOp = {
        apiVersion,
        kind: "HelmOp",
        metadata: { namespace: workspaceNamespace, name },
        spec: {
          helm: {
            repo: server.url,
            chart,
            version: "1.0.0",
            ...(values !== undefined && { values }),
          },
          namespace: name,
          targets,
          ...options,
        },
      };
      await fleet.hub.create(helmOps, helmOp);
    },
    ready: (...names) => untilReady(watched.helmOps, names),
    bareHelm: (name, chart) =>
      new Promise((resolve, reject) => {
        const child = spawn(
          fleet.helm,
          [
            "upgrade",
            "--install",
            name,
            join(home, `${chart}.tgz`),
            `--namespace=${name}`,
            "--create-namespace",
          ],
          { env: { HOME: home, KUBECONFIG: cluster.plane.kubeconfig }, stdio: "ignore" },
        );
        child.once("error", reject);
        child.once("exit", (code) =>
          code === 0 ? resolve() : reject(new Error(`helm ended with ${code}`)),
        );
      }),
    async close() {
      await watched.close();
      await server.close();
      await fleet.close();
    },
  };
}

/** 68 ConfigMaps and 12 Deployments, `stuck` of which have no node to run on. */
function largeChart(): Promise<ChartArchive> {
  return chartArchive({
    name: "large",
    version: "1.0.0",
    values: "stuck: 0\n",
    templates: {
      "config-maps.yaml": [
        "{{- range $n := until 68 }}",
        "---",
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata: {name: {{ $.Release.Name }}-settings-of-part-{{ $n }}}",
        "{{- end }}",
        "",
      ].join("\n"),
      "deployments.yaml": [
        "{{- range $n := until 12 }}",
        "---",
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata: {name: {{ $.Release.Name }}-part-{{ $n }}}",
        "spec:",
        "  selector: {matchLabels: {app: part-{{ $n }}}}",
        "  template:",
        "    metadata: {labels: {app: part-{{ $n }}}}",
        "    spec:",
        "      containers: [{name: main, image: example.com/main:1}]",
        "      {{- if lt $n (int $.Values.stuck) }}",
        "      nodeSelector: {there: is-none}",
        "      {{- end }}",
        "{{- end }}",
        "",
      ].join("\n"),
    },
  });
}

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** Resolves as soon as all objects of these names are ready. */
export function untilReady<T extends WithConditions>(
  informer: Informer<T>,
  names: readonly string[],
): Promise<void> {
  const expected = new Set(names);
  return untilCount(
    informer,
    expected.size,
    ({ metadata, status }) =>
      expected.has(metadata.name) && findCondition(status?.conditions, "Ready")?.status === "True",
  );
}

/** Resolves as soon as `count` objects are as expected. A change costs the same however many objects there are. */
export function untilCount<T extends KubeObject>(
  informer: Informer<T>,
  count: number,
  isDesired: (object: T) => boolean,
): Promise<void> {
  const found = new Set(informer.store.list().filter(isDesired).map(keyOf));
  return new Promise((resolve) => {
    const stop = informer.onChange(({ key, after }) => {
      if (after !== undefined && isDesired(after)) found.add(key);
      else found.delete(key);
      evaluate();
    });
    function evaluate(): void {
      if (found.size < count) return;
      stop();
      resolve();
    }
    evaluate();
  });
}

/** Resolves as soon as no object matches. */
export function untilNone<T extends KubeObject>(
  informer: Informer<T>,
  isLeft: (object: T) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const evaluate = (): void => {
      if (informer.store.list().some(isLeft)) return;
      stop();
      resolve();
    };
    const stop = informer.onChange(({ after }) => {
      if (after === undefined) evaluate();
    });
    evaluate();
  });
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Calls `work` for 0 to `count - 1`, so many at a time. */
export async function inParallel(
  count: number,
  atATime: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

/** Proportional set size of a process and its children, in MB. */
export async function memoryMb(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const own = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  const below = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => memoryMb(Number(child))),
  );
  return below.reduce((sum, mb) => sum + mb, Number(/^Pss:\s+(\d+)/m.exec(own)?.[1] ?? 0) / 1024);
}
