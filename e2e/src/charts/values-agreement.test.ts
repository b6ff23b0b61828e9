/**
 * Merging of values: the one file that the product passes to Helm is equal to several files. Random values are passed to the
 * real `helm` in two files, and merged by us in one.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { helmStartEnvironment } from "@flotilla/shared/process";
import { seed } from "@flotilla/shared/testing";
import { mergeValues, type Values } from "@flotilla/shared/values";
import { parseHelmYaml, toHelmJson } from "@flotilla/shared/yaml";
import fc from "fast-check";
import { afterAll, test } from "vitest";

const run = promisify(execFile);
const { helm } = await ensureBinaries(["helm"]);
const dir = await testDir({ onTestFinished: afterAll });
const pairs = 400;

const leaf = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.boolean(),
  fc.constant(null),
);
const key = fc.constantFrom("a", "b", "c", "global", "1", "true", "with space", "__proto__");
const { values } = fc.letrec<{ values: Values; inner: unknown }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    tie("values"),
  ),
  values: fc
    .array(fc.tuple(key, tie("inner")), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
}));

/** The values in a chart's templates, of these files, later ones over earlier ones. */
async function seen(...files: readonly Values[]): Promise<Values> {
  const paths = await Promise.all(
    files.map(async (file, index) => {
      const path = join(dir, `${files.length}-${index}.json`);
      await writeFile(path, toHelmJson(file));
      return path;
    }),
  );
  const args = [
    "template",
    "values",
    join(dir, "values"),
    ...paths.map((path) => `--values=${path}`),
  ];
  const { stdout } = await run(helm, args, {
    env: { ...helmStartEnvironment, HOME: dir },
    maxBuffer: 64 * 1024 * 1024,
  });
  const rendered = parseHelmYaml(stdout, { name: "the output of helm" }) as {
    readonly data: string;
  };
  return JSON.parse(rendered.data) as Values;
}

test(`${pairs} random pairs of values are merged as helm merges them (seed ${seed})`, async () => {
  await mkdir(join(dir, "values", "templates"), { recursive: true });
  await writeFile(
    join(dir, "values", "Chart.yaml"),
    "apiVersion: v2\nname: values\nversion: 1.0.0\n",
  );
  await writeFile(
    join(dir, "values", "templates", "values.yaml"),
    "data: {{ .Values.pairs | toJson | quote }}\n",
  );
  const sample = fc.sample(fc.tuple(values, values), { numRuns: pairs, seed });
  const of = (side: 0 | 1): Values => ({
    pairs: Object.fromEntries(sample.map((pair, index) => [`p${index}`, pair[side]])),
  });

  const [theirs, ours] = [await seen(of(0), of(1)), await seen(mergeValues(of(0), of(1)))];

  assert.equal(Object.keys(theirs).length, pairs);
  assert.deepEqual(ours, theirs);
});
