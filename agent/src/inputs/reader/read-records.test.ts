import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { describe, test } from "vitest";
import { performRecordTask } from "../../helm/record/record-task.ts";
import { contentDigest, type StoredRelease } from "../../helm/record/stored-release.ts";
import { createReadRecords } from "./read-records.ts";
import type { ReaderTask } from "./reader-task.ts";

const MiB = 1024 * 1024;

/** Counts what is passed to readers, and does it in this process. */
function setUp() {
  const passed: string[] = [];
  const records = createReadRecords({
    async run(task: ReaderTask, { what }) {
      assert.equal(task.kind, "record");
      passed.push(what);
      return JSON.parse(JSON.stringify(await performRecordTask(task.task)));
    },
  });
  return { records, passed };
}

function release(manifest: string): StoredRelease {
  return {
    namespace: "apps",
    name: "web",
    revision: 1,
    status: "deployed",
    manifest,
    content: contentDigest(manifest, []),
    tests: [],
    hooks: [],
    chartName: "",
    chartVersion: "1.0.0",
    appVersion: "",
  };
}

const settings = { apiVersion: "v1", kind: "ConfigMap", name: "settings" };
const block = (data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: ${data}\n`;
const flow = (data: string) =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: ${data}}}`;
const stored = (json: string) => Buffer.from(gzipSync(json).toString("base64")).toString("base64");
const printed = ({ manifest, ...rest }: { readonly manifest: string; readonly config?: string }) =>
  JSON.stringify({
    name: "web",
    namespace: "apps",
    version: 1,
    info: { status: "deployed" },
    manifest,
    ...rest,
  });

describe("the objects of a manifest", () => {
  test("are read at once, and once, if it is short or in block style", async () => {
    const { records, passed } = setUp();

    for (const manifest of [block("x"), flow("x"), block("x".repeat(MiB))]) {
      const one = release(manifest);
      assert.deepEqual(await records.manifest(one, "objects"), [settings]);
      assert.equal(records.manifest(one, "objects"), records.manifest(one, "objects"));
    }
    assert.deepEqual(passed, []);
  });

  test("are read by a reader if it is long and has to be parsed whole", async () => {
    const { records, passed } = setUp();
    const one = release(flow("x".repeat(64 * 1024)));

    assert.deepEqual(await records.manifest(one, "objects"), [settings]);
    assert.deepEqual(await records.manifest(one, "exactObjects"), [settings]);
    assert.deepEqual(await records.manifest(release("---\na: b\n".repeat(1_000)), "objects"), []);
    assert.deepEqual(passed, Array(3).fill("read the manifest of release apps/web"));
  });

  test("are read again after a failure", async () => {
    let isAlive = false;
    const records = createReadRecords({
      run: () =>
        isAlive ? Promise.resolve([]) : Promise.reject(new Error("the reader was killed")),
    });
    const one = release(flow("x".repeat(64 * 1024)));

    await assert.rejects(records.manifest(one, "objects"), /the reader was killed/);
    isAlive = true;
    assert.deepEqual(await records.manifest(one, "objects"), []);
  });
});

describe("a release", () => {
  test("has the method by which it was applied", async () => {
    const { records } = setUp();
    const json = JSON.stringify({ ...JSON.parse(printed({ manifest: "" })), apply_method: "ssa" });

    assert.equal((await records.printed(json, "it")).applyMethod, "ssa");
    assert.equal((await records.stored(stored(json), "it")).applyMethod, "ssa");
  });

  test("is read at once if it is short, and by a reader if it is long", async () => {
    const { records, passed } = setUp();
    const long = "x".repeat(MiB);

    for (const config of ["", long]) {
      const json = printed({ manifest: block("x"), config });
      assert.deepEqual(await records.printed(json, "helm's output"), {
        ...release(block("x")),
        chartVersion: "",
      });
      assert.equal((await records.stored(stored(json), "a Secret")).manifest, block("x"));
      const failed = await records.changed(stored(json), "a Secret", { failed: "cut off" });
      assert.equal((await records.stored(failed, "it")).status, "failed");
    }
    assert.deepEqual(passed, ["read helm's output", "read a Secret", "read a Secret", "read it"]);
  });

  test("that decompresses to more than any real one is not read", async () => {
    const { records } = setUp();

    await assert.rejects(records.stored(stored(" ".repeat(33 * MiB)), "a Secret"), {
      code: "RELEASE_UNREADABLE",
      message: "read a Secret: it has more than 32 MiB",
    });
  });
});
