/** What depends on one source, by the thousand: HelmOps and HelmReleases of one simulated agent. */
import { join } from "node:path";
import { apiVersion, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { gitRepositories, helmReleases, helmRepositories } from "@flotilla/shared/flux";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import { configChart } from "../../src/harness/chart-archive.ts";
import { startChartServer } from "../../src/harness/chart-server.ts";
import { type BenchFleet, untilCount, untilNone } from "./bench-fleet.ts";
import { createHelmRelease, createSource } from "./flux-objects.ts";

/** The Cluster of the simulated agent, and the interval of the sources. */
export interface KindOptions {
  readonly clusterName: string;
  readonly interval: string;
}

/** Where charts come from, and what depends on it. */
export interface Kind {
  /** The name of the objects and the source. */
  readonly name: string;
  readonly what: string;
  create(name: string): Promise<void>;
  delete(name: string): Promise<void>;
  /** Publishes a version of the chart. */
  publish(version: string): Promise<void>;
  /** Requests at its server so far that read it: an index, or references and files of a repository. */
  reads(): number;
  /** Resolves when this many of them have the version in the cluster and are Ready. */
  ready(count: number, version: string): Promise<void>;
  gone(): Promise<void>;
  close(): Promise<void>;
}

export async function helmOpsOfRepository(
  bench: BenchFleet,
  { clusterName, interval }: KindOptions,
): Promise<Kind> {
  const { hub } = bench.fleet;
  const server = await startChartServer();
  const name = "op-of-repository";
  const isOwn = (each: { readonly metadata: { readonly name: string } }): boolean =>
    each.metadata.name.startsWith(name);
  return {
    name,
    what: "repository",
    async create(each) {
      await hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: { namespace, name: each },
        spec: {
          helm: { repo: server.url, chart: "polled", version: "1.x" },
          namespace: each,
          pollingInterval: interval,
          targets: [{ clusterName }],
        },
      });
    },
    delete: async (each) => void (await hub.delete(helmOps, { namespace, name: each })),
    publish: async (version) => server.publish(await configChart("polled", version)),
    reads: () => server.requests.length,
    ready: (count, version) =>
      untilCount(
        bench.helmOps,
        count,
        (each) =>
          isOwn(each) &&
          each.status?.version === version &&
          findCondition(each.status.conditions, "Ready")?.status === "True",
      ),
    gone: () => untilNone(bench.helmOps, isOwn),
    close: () => server.close(),
  };
}

/** What HelmReleases of all sources have in common. */
function releasesOf(
  bench: BenchFleet,
  name: string,
): Pick<Kind, "name" | "delete" | "ready" | "gone"> {
  const isOwn = (each: { readonly metadata: { readonly name: string } }): boolean =>
    each.metadata.name.startsWith(`${name}-`);
  return {
    name,
    delete: async (each) =>
      void (await bench.fleet.hub.delete(helmReleases, { namespace, name: each })),
    ready: (count, version) =>
      untilCount(
        bench.helmReleases,
        count,
        (each) =>
          isOwn(each) &&
          each.status?.clusters?.[0]?.version === version &&
          findCondition(each.status.conditions, "Ready")?.status === "True",
      ),
    gone: () => untilNone(bench.helmReleases, isOwn),
  };
}

export async function releasesOfHelmRepository(
  bench: BenchFleet,
  { clusterName, interval }: KindOptions,
): Promise<Kind> {
  const { hub } = bench.fleet;
  const server = await startChartServer();
  const source = { kind: "HelmRepository", name: "of-helm-repository" } as const;
  await createSource(hub, source, { url: server.url, interval });
  return {
    ...releasesOf(bench, source.name),
    what: source.kind,
    create: (each) =>
      createHelmRelease(hub, each, { source, chart: "polled", version: "1.x", clusterName }),
    publish: async (version) => server.publish(await configChart("polled", version)),
    reads: () => server.requests.length,
    async close() {
      await hub.delete(helmRepositories, { namespace, name: source.name });
      await server.close();
    },
  };
}

export async function releasesOfGitRepository(
  bench: BenchFleet,
  { clusterName, interval }: KindOptions,
): Promise<Kind> {
  const { hub, dir } = bench.fleet;
  const root = join(dir, "git");
  const repository = await createRepository(root, "polled.git");
  const server = await startGitHttpServer(root);
  const source = { kind: "GitRepository", name: "of-git-repository" } as const;
  await createSource(hub, source, { url: server.url(repository.name), interval });
  return {
    ...releasesOf(bench, source.name),
    what: source.kind,
    create: (each) =>
      createHelmRelease(hub, each, { source, chart: "./chart", version: "*", clusterName }),
    async publish(version) {
      await repository.commit({
        "chart/Chart.yaml": `apiVersion: v2\nname: polled\nversion: ${version}\n`,
        "chart/templates/config.yaml": "kind: ConfigMap\n",
      });
    },
    // Each connection of git begins so.
    reads: () => server.seen.filter((request) => request.includes("/info/refs")).length,
    async close() {
      await hub.delete(gitRepositories, { namespace, name: source.name });
      await server[Symbol.asyncDispose]();
    },
  };
}
