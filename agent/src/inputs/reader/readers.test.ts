import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { constants, createGzip, gzipSync } from "node:zlib";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createProcessWatch } from "@flotilla/shared/process";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { toHelmJson } from "@flotilla/shared/yaml";
import { pack } from "tar-stream";
import { afterAll, describe, type TestContext, test } from "vitest";
import { createLimitRecords } from "../../base/process/limit-records.ts";
import { createSecretStorage } from "../../base/storage/secret-storage.ts";
import { createReadCalls } from "./read-calls.ts";
import { createReadYaml } from "./read-yaml.ts";
import { createReaders, type ReadersOptions } from "./readers.ts";

const MiB = 1024 * 1024;
/** No reader is slow by these, on a slow machine either: one that is would be replaced after its task. */
const roomyLimits = { memoryBytes: 512 * MiB, cpuMs: 100_000, fullPriorityCpuMs: 100_000 };
const dir = await mkdtemp(join(tmpdir(), "flotilla-readers-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

function setUp(t: TestContext, options: Partial<ReadersOptions> = {}) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock(0);
  const start = async () => {
    const secrets = createSecretStorage(rest);
    const records = createLimitRecords({ secrets, clock, log: silentLog() });
    await records.load();
    const readers = createReaders({
      watch: createProcessWatch({ totalBytes: 4096 * MiB }),
      limits: { memoryBytes: 512 * MiB, cpuMs: 10_000, fullPriorityCpuMs: 50 },
      records,
      maxReaders: 2,
      environment: {},
      ...options,
    });
    t.onTestFinished(() => readers.close());
    return { readers, calls: createReadCalls(readers) };
  };
  return { clock, start };
}

/** In place of a reader: does what the digest of the chart says. `atStart` is run first. */
async function standIn(atStart = ""): Promise<string> {
  const path = join(await mkdtemp(join(dir, "reader-")), "reader.mjs");
  await writeFile(
    path,
    `import { createInterface } from "node:readline";
${atStart}
for await (const line of createInterface({ input: process.stdin })) {
  const { digest } = JSON.parse(line);
  if (digest === "crash") process.abort();
  if (digest === "loop") for (;;);
  if (digest === "flood") for (;;) process.stdout.write("x".repeat(65536)) || await new Promise((resolve) => process.stdout.once("drain", resolve));
  if (digest === "hang") await new Promise((resolve) => setTimeout(resolve, 1e6));
  console.log(JSON.stringify({ kind: "done", value: { calls: { lookup: String(process.pid) }, rendersValues: false, hasPostHooks: false, name: "", version: "" } }));
}`,
  );
  return path;
}

const chart = (digest: string, path = "") => ({ digest, path, sizeBytes: 0 });

async function chartOf(files: Readonly<Record<string, string>>, name: string) {
  const tar = pack();
  for (const [path, text] of Object.entries(files)) tar.entry({ name: path }, text);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array)); // A stream of bytes.
  const path = join(dir, name);
  await writeFile(path, gzipSync(Buffer.concat(chunks)));
  return chart(`sha256:${name}`, path);
}

/** A gzip archive of this many zero bytes. */
async function zeros(mebibytes: number, name: string) {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const block = Buffer.alloc(MiB);
  const written = (async () => {
    for (let at = 0; at < mebibytes; at += 1)
      if (!gzip.write(block)) await new Promise((resolve) => gzip.once("drain", resolve));
    gzip.end();
  })();
  const chunks: Buffer[] = [];
  for await (const chunk of gzip) chunks.push(Buffer.from(chunk as Uint8Array)); // A stream of bytes.
  await written;
  const path = join(dir, name);
  await writeFile(path, Buffer.concat(chunks));
  return chart(`sha256:${name}`, path);
}

describe("a reader", () => {
  test("finds the calls in a chart and in values", async (t) => {
    const { calls } = await setUp(t).start();
    const app = await chartOf(
      { "app/templates/a.yaml": '{{ lookup "v1" "Secret" "a" "b" }}{{ tpl .Values.x . }}' },
      "app",
    );

    assert.deepEqual(await calls.inChart(app), {
      calls: { lookup: "app/templates/a.yaml" },
      rendersValues: true,
      hasPostHooks: false,
      name: "",
      version: "",
    });
    assert.deepEqual(await calls.inValues({ x: "{{ getHostByName `a` }}" }), {
      getHostByName: "the values",
    });
    assert.deepEqual(await calls.inValues({ x: "plain" }), {});
  });

  test("rejects an archive that decompresses to too much", async (t) => {
    const { calls } = await setUp(t).start();

    await assert.rejects(calls.inChart(await zeros(200, "zeros")), {
      code: "LIMIT_EXCEEDED",
      message: /decompresses to more than 128 MiB$/,
    });
    const template = await chartOf({ "app/templates/a.yaml": "{{ tpl }}".repeat(4 * MiB) }, "36m");
    await assert.rejects(calls.inChart(template), {
      message: /its templates have more than 32 MiB$/,
    });
  });

  test("rejects an archive of too many files", async (t) => {
    const { calls } = await setUp(t).start();
    const files = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`app/${at}`, ""]));

    await assert.rejects(calls.inChart(await chartOf(files, "many")), {
      message: /it has more than 20000 files$/,
    });
  });

  test("reads millions of calls in little memory", async (t) => {
    // 150 MiB where the processors are free, and twice as much while garbage waits for them.
    const limits = { memoryBytes: 400 * MiB, cpuMs: 20_000, fullPriorityCpuMs: 50 };
    const { calls } = await setUp(t, { limits }).start();
    const text = `{{ tpl "x" . }}${"{{a}}".repeat(800_000)}`;

    const found = await calls.inChart(await chartOf({ "app/templates/a.yaml": text }, "calls"));

    assert.deepEqual(found, {
      calls: {},
      rendersValues: true,
      hasPostHooks: false,
      name: "",
      version: "",
    });
  });
});

test.runIf(process.platform === "linux")(
  "a reader gives way to Helm and to the agent from its start",
  async (t) => {
    const limits = { memoryBytes: 512 * MiB, cpuMs: 10_000, fullPriorityCpuMs: 10_000 };
    const { calls } = await setUp(t, { program: await standIn(), limits }).start();

    const { calls: found } = await calls.inChart(chart("any"));

    assert.equal(getPriority(Number(found.lookup)), 5);
  },
);

describe("a chart that ends its reader", () => {
  for (const [digest, what] of [
    ["crash", /the process that reads it ended with SIGABRT$/],
    ["loop", /used more than 0\.5 s of processor time$/],
    ["flood", /printed too much$/],
    ["hang", /took more than 1 s$/],
  ] as const)
    test(`(${digest}) is not read again before its retry, by a restarted agent either`, async (t) => {
      const { clock, start } = setUp(t, {
        program: await standIn(),
        // Only what has to exceed a limit has a low one: the others may be slow.
        limits: {
          memoryBytes: 512 * MiB,
          cpuMs: digest === "loop" ? 500 : 100_000,
          fullPriorityCpuMs: 50,
        },
        timeoutMs: digest === "hang" ? 1_000 : 150_000,
      });
      const { calls } = await start();
      const expected = { code: "LIMIT_EXCEEDED", message: what, retryAtMs: 60_000 };
      await assert.rejects(calls.inChart(chart(digest)), expected);
      await assert.rejects(calls.inChart(chart(digest)), expected);

      const restarted = await start();
      await assert.rejects(restarted.calls.inChart(chart(digest)), expected);

      await clock.advance(60_000);
      await assert.rejects(restarted.calls.inChart(chart(digest)), { retryAtMs: 180_000 });
    });

  test("does not delay others", async (t) => {
    const { start } = setUp(t, { program: await standIn(), limits: roomyLimits, waitMs: 10 });
    const { calls, readers } = await start();
    const hanging = calls.inChart(chart("hang")).catch((thrown: unknown) => thrown);

    const others = await Promise.all(
      Array.from({ length: 20 }, (_, at) => calls.inChart(chart(`${at}`))),
    );

    assert.equal(new Set(others.map(({ calls: { lookup } }) => lookup)).size, 1);
    await readers.close();
    assert.match(String(await hanging), /cancelled: read the chart hang/);
  });
});

describe("readers", () => {
  test("do all tasks in one process as long as none waits", async (t) => {
    const { calls, readers } = await setUp(t, {
      ...{ program: await standIn(), limits: roomyLimits },
    }).start();
    readers.prepare();
    readers.prepare();

    const first = await calls.inChart(chart("a"));
    const second = await calls.inChart(chart("b"));

    assert.deepEqual(first, second);
  });

  test("are replaced after a number of tasks, and end when they are idle", async (t) => {
    const { atStart, untilEnded } = await watchEnds(t);
    const program = await standIn(atStart);
    const { calls } = await setUp(t, { program, maxTasks: 2, idleMs: 1 }).start();
    const pids: number[] = [];
    for (const digest of ["a", "b", "c"])
      pids.push(Number((await calls.inChart(chart(digest))).calls.lookup));

    assert.ok(new Set(pids).size >= 2);
    for (const pid of pids) await untilEnded(pid);
  });
});

/**
 * Processes that run `atStart` hold a connection, which is closed when they end. `untilEnded` fails by the timeout of the test.
 */
async function watchEnds(t: TestContext) {
  const path = join(await mkdtemp(join(dir, "ends-")), "socket");
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const endOf = (pid: number): PromiseWithResolvers<void> => {
    const end = ends.get(pid) ?? Promise.withResolvers<void>();
    ends.set(pid, end);
    return end;
  };
  const server = createServer((socket) => {
    socket.once("data", (pid) => {
      socket.once("close", () => endOf(Number(pid)).resolve());
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.onTestFinished(() => void server.close());
  const atStart = `import { connect } from "node:net";
const socket = connect(${JSON.stringify(path)}).unref();
await new Promise((written) => socket.write(String(process.pid), written));`;
  return { atStart, untilEnded: (pid: number) => endOf(pid).promise };
}

describe("YAML that a tenant wrote", () => {
  const long = `${"# a comment\n".repeat(1_000)}exact: 12345678901234567890\n`;

  test("is read by a reader if it is long, with exact numbers, and not again", async (t) => {
    const { readers } = await setUp(t).start();
    const tasks: string[] = [];
    const readYaml = createReadYaml({
      run(task, subject) {
        tasks.push(task.kind);
        return readers.run(task, subject);
      },
    });

    const read = await readYaml(long, "a text");

    assert.equal(toHelmJson(read), '{"exact":12345678901234567890}');
    assert.deepEqual(await readYaml(long, "a text"), read);
    assert.equal(toHelmJson(await readYaml("short: 1", "a text")), '{"short":1}');
    assert.deepEqual(tasks, ["yaml"]);
  });

  test("that is invalid is rejected with its name and position", async (t) => {
    const { readers } = await setUp(t).start();

    await assert.rejects(createReadYaml(readers)(`${long}a: 'open`, "a text"), {
      message: /^read a text, line 1002, column \d+: /,
    });
  });

  test("that takes too long ends its reader, and not the agent", async (t) => {
    const { readers } = await setUp(t, { timeoutMs: 10 }).start();

    await assert.rejects(createReadYaml(readers)("- a\n".repeat(250_000), "a text"), {
      code: "LIMIT_EXCEEDED",
      message: /^read a text: the process that reads it took more than 0\.01 s/,
    });
  });
});
