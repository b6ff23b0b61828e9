/**
 * A Git repository that is made to stop the hub. Each file costs its author a few KiB, and would cost the hub seconds of its event
 * loop, or gigabytes, if it read it as it is.
 */
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";
import type { HelmChartSpec } from "@flotilla/shared/flux";
import { pack } from "tar-stream";
import type { Files } from "./git-fleet.ts";

const each = 4;
const valuesFiles = 100;
const MiB = 1024 * 1024;

/** With a Chart.yaml that takes a tenth of a second or more to parse, several times what a large one of a real chart has. */
export const heavyCharts = named("heavy");
/** Each has a Chart.yaml of 8 MiB. */
export const hugeCharts = named("huge");
/** Packages of 80 KiB that unpack to 80 MiB before their Chart.yaml. */
export const bombs = named("bomb");

export async function hostileFiles(): Promise<Files> {
  const bomb = await packedBomb();
  return Object.fromEntries<string | Uint8Array>([
    ...heavyCharts.map((name, at): [string, string] => [
      `${name}/Chart.yaml`,
      `name: heavy\nversion: 1.0.${at}\nkeywords: [${"b,".repeat(10_000)}c]\n`,
    ]),
    ...hugeCharts.map((name): [string, string] => [
      `${name}/Chart.yaml`,
      `${"- a\n".repeat(2 * MiB)}# ${name}\n`,
    ]),
    ...bombs.map((name): [string, Uint8Array] => [name, bomb]),
    // One blob for Git.
    ...valuesPaths().map((path): [string, string] => [path, "\n".repeat(MiB)]),
    ["small/Chart.yaml", "apiVersion: v2\nname: small\nversion: 1.0.0\n"],
  ]);
}

/** The charts of the repository, each in the directory of its name. `source`: the name of the GitRepository. */
export function hostileCharts(source: string): ReadonlyMap<string, HelmChartSpec> {
  const spec: Omit<HelmChartSpec, "chart"> = {
    version: "*",
    interval: "1h",
    reconcileStrategy: "ChartVersion",
    sourceRef: { kind: "GitRepository", name: source },
  };
  return new Map<string, HelmChartSpec>([
    ...[...heavyCharts, ...hugeCharts, ...bombs].map(
      (chart) => [chart, { ...spec, chart }] as const,
    ),
    ["small", { ...spec, chart: "small", valuesFiles: [...valuesPaths()] }],
  ]);
}

function packedBomb(): Promise<Uint8Array> {
  const tar = pack();
  tar.entry({ name: "app/zeros" }, Buffer.alloc(80 * MiB));
  tar.entry({ name: "app/Chart.yaml" }, "apiVersion: v2\nname: app\nversion: 1.0.0\n");
  tar.finalize();
  return buffer(tar.pipe(createGzip()));
}

function named(what: string): readonly string[] {
  return Array.from({ length: each }, (_, at) => `${what}-${at}`);
}

function valuesPaths(): readonly string[] {
  return Array.from({ length: valuesFiles }, (_, at) => `values/${at}.yaml`);
}
