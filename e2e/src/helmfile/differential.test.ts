/**
 * Helmfiles that helmfile's own authors test it with: what the agent plans is what helmfile has the real Helm do. Those that need a
 * network are left out, since what is out there changes.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { afterAll, describe, test } from "vitest";
import { startHelmfilePlanner } from "./helmfile-planner.ts";

const run = promisify(execFile);
const programs = await ensureBinaries(["helmfile", "helm", "kustomize"]);
const planner = await startHelmfilePlanner();
const dir = await testDir({ onTestFinished: afterAll });

/** The sources of the helmfile that was built. */
async function helmfileSources(): Promise<string> {
  const cwd = fileURLToPath(new URL("../../../local/tools/helmfile", import.meta.url));
  const { stdout } = await run("go", ["mod", "download", "-json", "github.com/helmfile/helmfile"], {
    cwd,
  });
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}

const sources = join(await helmfileSources(), "test", "integration");
const cases = "test-cases";

/** What needs a network, more than a helmfile (a variable, a selector), or is not one on purpose. */
const needsMore =
  /repositories:|oci:\/\/|git::|https?:\/\/|requiredEnv|bogusKey|postRenderer|kubeContext/;

async function helmfilesIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of await readdir(join(sources, folder), { recursive: true })) {
    if (!/(^|\/)helmfile[^/]*\.yaml(\.gotmpl)?$/.test(path)) continue;
    const texts = await textsOf(join(sources, folder, dirname(path)));
    if (!texts.some((text) => needsMore.test(text))) found.push(`${folder}/${path}`);
  }
  return found.sort();
}

/** The texts of all YAML and templates. */
async function textsOf(folder: string): Promise<readonly string[]> {
  const paths = await readdir(folder, { recursive: true });
  const named = paths.filter((path) => /\.(yaml|gotmpl|yml)$/.test(path));
  return await Promise.all(named.map((path) => readFile(join(folder, path), "utf8")));
}

/** A copy of a case, with the charts that lie beside all of them. */
async function copy(file: string, name: string): Promise<string> {
  const tree = join(dir, name);
  const folder = file.split("/").slice(0, 2).join("/");
  for (const part of [folder, "charts"])
    await cp(join(sources, part), join(tree, part), { recursive: true });
  await run("chmod", ["-R", "u+w", tree]);
  return tree;
}

interface Recorded {
  readonly name: string;
  readonly values: unknown;
  readonly chart: string;
}

const dump = join(dir, "dump");
await mkdir(join(dump, "templates"), { recursive: true });
await writeFile(join(dump, "Chart.yaml"), "apiVersion: v2\nname: dump\nversion: 0.0.0\n");
await writeFile(join(dump, "templates", "a.yaml"), "values: {{ .Values | toJson }}\n");
const bin = join(dir, "bin");
await mkdir(bin);
const recorder = join(bin, "helm");
await cp(fileURLToPath(new URL("recording-helm.mjs", import.meta.url)), recorder);
await chmod(recorder, 0o755);

/** Undefined where helmfile fails. */
async function recorded(file: string, name: string): Promise<readonly Recorded[] | undefined> {
  const tree = await copy(file, `${name}-real`);
  const record = join(dir, `${name}.jsonl`);
  const { failed } = await run(
    programs.helmfile,
    [`--file=${file}`, `--helm-binary=${recorder}`, "sync"],
    {
      cwd: tree,
      env: {
        PATH: `${bin}:${dirname(programs.kustomize)}:${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: join(dir, `${name}-home`),
        HELMFILE_UPGRADE_NOTICE_DISABLED: "true",
        REAL_HELM: programs.helm,
        DUMP_CHART: dump,
        RECORD: record,
      },
    },
  ).then(
    () => ({ failed: false }),
    () => ({ failed: true }),
  );
  await rm(tree, { recursive: true });
  if (failed) return undefined;
  const lines = (await readFile(record, "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Recorded);
}

function byName<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const files = await helmfilesIn(cases);
let deployed = 0;

test("most of the cases need no network", () => {
  assert.ok(files.length >= 30, `${files.length}`);
});

describe("what helmfile has the real Helm do is what is planned, or both fail:", () => {
  for (const [index, file] of files.entries())
    test(file, async () => {
      const real = await recorded(file, `case-${index}`);
      const planned = planner.planTree(await copy(file, `case-${index}-planned`), { file });
      if (real === undefined) return await assert.rejects(planned, { code: "HELMFILE_FAILED" });
      const { plan, work } = await planned;
      deployed += 1;

      const valuesOf = new Map(work.map(({ name, values }) => [name, values]));
      assert.deepEqual(
        byName(plan.releases).map(({ name, chart }) => ({
          name,
          chart: `${chart.name} ${chart.version}`,
          values: JSON.parse(JSON.stringify(valuesOf.get(name))) as unknown,
        })),
        byName(real).map(({ name, chart, values }) => ({ name, chart, values })),
      );
    });
});

test("most of them have releases", () => {
  assert.ok(deployed >= 25, `${deployed}`);
});
