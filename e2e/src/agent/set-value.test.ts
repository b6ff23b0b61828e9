/** A `targetPath` of Flux is read as Helm reads `--set`: the same lines, by Helm itself and by the agent. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { canonicalJson } from "@flotilla/shared/json";
import { helmStartEnvironment } from "@flotilla/shared/process";
import { setValue, setValues } from "@flotilla/shared/values";
import { afterAll, beforeAll, describe, test } from "vitest";

const { helm } = await ensureBinaries(["helm"]);
const run = promisify(execFile);
const env = { ...process.env, ...helmStartEnvironment };

const base = { s: "x", m: { a: 1, l: [1, { b: 2 }] }, list: [1, [2]], id: 1 };

const paths = [
  "a",
  "m.a",
  "m.l[1].b",
  "m.l[3]",
  "list[1][1]",
  "list[0].x",
  "a\\.b.c",
  "s.a",
  "m[0]",
  "[0]",
  "a.",
  "a[0]x",
];
const texts = [
  "x",
  "1",
  "-7",
  "+7",
  "007",
  "1e3",
  "123456789012345",
  "9223372036854775808",
  "True",
  "null",
  "",
  "{}",
  "{a,1,{b}",
  "{a,b},c=1",
  "a\\,b",
  "a,b=1",
  "a,b",
  "a=b",
  "'1'",
  '"x"',
  "\\",
  "a\\\\b",
  "ü,ü=1",
  "{a",
  "x,list[0]=9,m.l[0]=",
];

const dir = await mkdtemp(join(tmpdir(), "set-value-"));
afterAll(() => rm(dir, { recursive: true }));

beforeAll(async () => {
  await mkdir(join(dir, "templates"));
  await writeFile(join(dir, "Chart.yaml"), "apiVersion: v2\nname: set\nversion: 1.0.0\n");
  await writeFile(join(dir, "templates/values.yaml"), "values: {{ .Values | toJson | quote }}\n");
  await writeFile(join(dir, "base.json"), JSON.stringify(base));
});

/** The values that the templates get; undefined if Helm rejects them. */
async function rendered(args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(helm, ["template", dir, ...args], { env });
    return stdout;
  } catch {
    return undefined;
  }
}

async function agreed(path: string, text: string, flag: string): Promise<void> {
  const literal = flag === "--set-literal";
  const quoted = !literal && /^(["'])(.*\1)?$/s.test(text);
  const plain = quoted ? text.slice(1, -1) : text;
  const byHelm = await rendered([
    ...["--values", join(dir, "base.json")],
    ...[quoted ? "--set-string" : flag, `${path}=${plain}`],
  ]);
  const set = setValue(base, path, text, { literal });
  if (!literal && !quoted) assert.deepEqual(setValues(base, [`${path}=${text}`]).kind, set.kind);
  if (set.kind === "invalid") {
    assert.equal(byHelm, undefined, `${path}=${text}: ${set.problem}`);
    return;
  }
  const file = join(await mkdtemp(join(dir, "set-")), "values.json");
  await writeFile(file, canonicalJson(set.values));
  assert.equal(await rendered(["--values", file]), byHelm, `${path}=${text}`);
}

describe("values at a path are as Helm sets them", () => {
  for (const flag of ["--set", "--set-literal"])
    for (const path of paths)
      test(`${flag} ${path}`, async () => {
        for (const text of path === "a" ? texts : texts.slice(0, 2).concat(texts.slice(10, 14)))
          await agreed(path, text, flag);
      });
});
