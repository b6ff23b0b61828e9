/** Charts as people write them, each a folder of `cases`: its chart, and what is applied to the hub for each kind. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type ChartArchive, packChart } from "../harness/chart-archive.ts";

const folder = join(import.meta.dirname, "cases");

/** The kinds of the hub that each chart is installed by. */
export const wildKinds = ["HelmOp", "HelmRelease"] as const;
export type WildKind = (typeof wildKinds)[number];

/** What the placeholders of a case's documents stand for: `@NAME@` and so on. */
export type Placeholders = Readonly<
  Record<"NAME" | "NS" | "REPO" | "OCI" | "WORKSPACE" | "CLUSTER", string>
>;

export interface WildCase {
  /** As `07-duplicate-env`. */
  readonly name: string;
  readonly chart: ChartArchive;
  /** The chart as another version, with a text that is in one of its templates replaced. */
  chartAs(version: string, changed?: readonly [from: string, to: string]): Promise<ChartArchive>;
  /** Objects that the member cluster has before. */
  readonly clusterObjects: string | undefined;
  /** The documents that are applied to the hub; `step` 2 is the change that the case is about, where it is about one. */
  documents(kind: WildKind, placeholders: Placeholders, step?: 1 | 2): Promise<string>;
}

/** All cases, by name. */
export async function readWildCases(): Promise<readonly WildCase[]> {
  const names = (await readdir(folder)).toSorted();
  return await Promise.all(names.map(readWildCase));
}

async function readWildCase(name: string): Promise<WildCase> {
  const dir = join(folder, name);
  const chart = await readChart(join(dir, "chart"));
  return {
    name,
    chart: await packChart(chart),
    async chartAs(version, [from, to] = ["", ""]) {
      const files = [...chart.files].map(([path, text]): [string, string] => [
        path,
        path === "Chart.yaml"
          ? text.replace(`version: ${chart.version}`, `version: ${version}`)
          : path.startsWith("templates/")
            ? text.replace(from, to)
            : text,
      ]);
      return await packChart({ ...chart, version, files: new Map(files) });
    },
    clusterObjects: (await readdir(dir)).includes("cluster.yaml")
      ? await readFile(join(dir, "cluster.yaml"), "utf8")
      : undefined,
    async documents(kind, placeholders, step = 1) {
      const file = `${kind.toLowerCase()}${step === 1 ? "" : `-${step}`}.yaml`;
      const text = await readFile(join(dir, file), "utf8");
      return Object.entries(placeholders).reduce(
        (replaced, [key, value]) => replaced.replaceAll(`@${key}@`, value),
        text,
      );
    },
  };
}

async function readChart(dir: string): Promise<Parameters<typeof packChart>[0]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name));
  const files = new Map<string, string>();
  for (const path of paths.toSorted()) files.set(relative(dir, path), await readFile(path, "utf8"));
  const metadata = files.get("Chart.yaml") ?? "";
  return { name: field(metadata, "name"), version: field(metadata, "version"), files };
}

function field(metadata: string, name: string): string {
  const value = new RegExp(`^${name}: (.+)$`, "m").exec(metadata)?.[1];
  if (value === undefined) throw new Error(`Chart.yaml of a case has no ${name}`);
  return value;
}
