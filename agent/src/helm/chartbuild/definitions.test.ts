import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { performBuildTask } from "./build-task.ts";
import { buildLimits } from "./chart-files.ts";
import { packChart } from "./pack-chart.ts";
import { readChartArchive } from "./read-archive.ts";

type Files = Readonly<Record<string, string | Buffer>>;

async function packed(files: Files): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "definitions-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const target = join(dir, "chart.tgz");
  const chart = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  await packChart(chart, { name: "shop", origin: "test", target, maxBytes: 1_000_000 });
  return target;
}

/** The files of what is left of a chart; undefined for one without definitions. */
async function definitionsOf(files: Files): Promise<Readonly<Record<string, string>> | undefined> {
  const file = await packed(files);
  const target = `${file}.definitions`;
  const reply = await performBuildTask({ step: "definitions", file, target });
  if (!(reply as { readonly hasDefinitions: boolean }).hasDefinitions) return undefined;
  const left = await readChartArchive(await readFile(target), "read it", buildLimits);
  return Object.fromEntries([...left].map(([path, bytes]) => [path, bytes.toString()]));
}

const metadata = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";

test("a chart keeps its metadata, values and definitions, and no template, file or schema", async () => {
  const left = await definitionsOf({
    "Chart.yaml": `${metadata}kubeVersion: "<1.2"\n`,
    "values.yaml": "a: 1\n",
    "values.schema.json": "{}",
    "README.md": "text",
    "crds/things.yaml": "kind: CustomResourceDefinition\n",
    "crds/more/things.yaml": "kind: CustomResourceDefinition\n",
    "templates/app.yaml": '{{ fail "no" }}',
    "templates/crds/not.yaml": '{{ fail "no" }}',
  });

  assert.deepEqual(Object.keys(left ?? {}).toSorted(), [
    ...["Chart.yaml", "crds/more/things.yaml", "crds/things.yaml", "values.yaml"],
  ]);
  assert.deepEqual(JSON.parse(left?.["Chart.yaml"] ?? ""), {
    ...{ apiVersion: "v2", name: "shop", version: "1.0.0" },
  });
});

test("subcharts keep theirs, in folders and packaged, so that Helm decides which are enabled", async () => {
  const inner = await packed({
    "Chart.yaml": "name: inner\nversion: 1.0.0\n",
    "crds/inner.yaml": "kind: CustomResourceDefinition\n",
    "templates/app.yaml": '{{ fail "no" }}',
  });

  const left = await definitionsOf({
    "Chart.yaml": metadata,
    "charts/inner-1.0.0.tgz": await readFile(inner),
    "charts/folder/Chart.yaml": "name: folder\nversion: 1.0.0\n",
    "charts/folder/crds/folder.yaml": "kind: CustomResourceDefinition\n",
    "charts/folder/charts/deep/Chart.yaml": "name: deep\nversion: 1.0.0\n",
    "charts/folder/charts/deep/templates/app.yaml": '{{ fail "no" }}',
    "charts/_ignored/crds/no.yaml": "",
  });

  assert.deepEqual(Object.keys(left ?? {}).toSorted(), [
    "Chart.yaml",
    "charts/folder/Chart.yaml",
    "charts/folder/charts/deep/Chart.yaml",
    "charts/folder/crds/folder.yaml",
    "charts/inner-1.0.0/Chart.yaml",
    "charts/inner-1.0.0/crds/inner.yaml",
  ]);
});

test("nothing is left of a chart without definitions", async () => {
  assert.equal(
    await definitionsOf({ "Chart.yaml": metadata, "templates/crds/x.yaml": "kind: X\n" }),
    undefined,
  );
});
