import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import { helmStartEnvironment } from "@flotilla/shared/process";
import { Agent, request } from "undici";
import { test } from "vitest";
import { parse } from "yaml";
import { ensureBinaries } from "../binaries/index.ts";
import { startTestChartRepository, startTestRegistry, testDir } from "../testing/index.ts";
import { publishChart, sampleChartDir } from "./publish-chart.ts";

const { helm } = await ensureBinaries(["helm"]);

interface Index {
  readonly entries: Readonly<
    Record<
      string,
      readonly {
        readonly version: string;
        readonly urls: readonly string[];
        readonly digest: string;
      }[]
    >
  >;
}

async function fetchText(url: string): Promise<string> {
  const answer = await request(url);
  assert.equal(answer.statusCode, 200, url);
  return answer.body.text();
}

test("Helm prints the same in the environment that makes its starts cheap", async (t) => {
  const env = { HOME: await testDir(t), PATH: "/usr/bin:/bin" };
  const printed = (more: NodeJS.ProcessEnv) =>
    [["help"], ["upgrade", "--help"], ["show", "chart", "/no/chart"]].map((args) => {
      const { status, stdout, stderr } = spawnSync(helm, args, { env: { ...env, ...more } });
      return { status, stdout: stdout.toString(), stderr: stderr.toString() };
    });

  const [help, ...others] = printed({});

  assert.match(help?.stdout ?? "", /^The Kubernetes package manager/);
  assert.deepEqual(printed(helmStartEnvironment), [help, ...others]);
});

test("a published chart is in the index with its digest, beside earlier versions", async (t) => {
  const repository = await startTestChartRepository(t);
  const to = { chartsDir: repository.chartsDir };

  await publishChart(sampleChartDir("config"), { helm, to });
  const published = await publishChart(sampleChartDir("config"), {
    helm,
    to,
    version: "0.1.6",
    appVersion: "2.0",
  });
  await publishChart(sampleChartDir("web"), { helm, to });

  const index: Index = parse(await fetchText(`${repository.url}/index.yaml`));
  assert.deepEqual(
    index.entries["config"]?.map((one) => one.version),
    ["0.1.6", "0.1.5"],
  );
  assert.deepEqual(
    index.entries["web"]?.map((one) => one.version),
    ["0.1.5"],
  );
  const entry = index.entries["config"][0];
  assert.ok(entry);
  assert.equal(entry.digest, published.digest);
  const archive = await request(`${repository.url}/${entry.urls[0] ?? ""}`);
  const bytes = Buffer.from(await archive.body.arrayBuffer());
  assert.equal(createHash("sha256").update(bytes).digest("hex"), published.digest);
  assert.deepEqual(
    await readdir(dirname(repository.chartsDir)),
    ["charts", "logs", "port.json"],
    "no temporary files remain",
  );
});

test("charts that are published concurrently are all in the index", async (t) => {
  const dir = await testDir(t);
  const to = { chartsDir: join(dir, "charts") };
  await mkdir(to.chartsDir);

  await Promise.all(
    ["0.2.0", "0.2.1", "0.2.2"].map((version) =>
      publishChart(sampleChartDir("config"), { helm, to, version }),
    ),
  );

  const index: Index = parse(await readFile(join(to.chartsDir, "index.yaml"), "utf8"));
  assert.deepEqual(
    index.entries["config"]?.map((one) => one.version),
    ["0.2.2", "0.2.1", "0.2.0"],
  );
});

test("a registry keeps its charts and its address after a restart", async (t) => {
  const dir = await testDir(t);
  const registry = await startTestRegistry(t, { dir });
  const to = { registry: { repository: `${registry.oci}/charts`, plainHttp: true } };
  await publishChart(sampleChartDir("config"), { helm, to });
  await publishChart(sampleChartDir("config"), { helm, to, version: "0.1.6" });
  await registry.stop();

  const restarted = await startTestRegistry(t, { dir });

  assert.equal(restarted.url, registry.url);
  const tags: { readonly tags: readonly string[] } = JSON.parse(
    await fetchText(`${restarted.url}/v2/charts/config/tags/list`),
  );
  assert.deepEqual([...tags.tags].sort(), ["0.1.5", "0.1.6"]);
});

test("a registry with TLS and users rejects a push with a wrong password", async (t) => {
  const user = { username: "ship", password: "top-secret" };
  const registry = await startTestRegistry(t, { tls: true, users: [user] });
  assert.ok(registry.ca);
  const target = {
    repository: `${registry.oci}/charts`,
    plainHttp: false,
    caFile: registry.ca.file,
  };

  await publishChart(sampleChartDir("config"), { helm, to: { registry: { ...target, user } } });

  const wrong = { ...user, password: "wrong-guess" };
  await assert.rejects(
    publishChart(sampleChartDir("config"), { helm, to: { registry: { ...target, user: wrong } } }),
    (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, "CHART_PUBLISH_FAILED");
      assert.match(error.message, /^helm push .*: .*401/s);
      assert.doesNotMatch(error.message, /wrong-guess/);
      return true;
    },
  );
  const client = new Agent({ connect: { ca: registry.ca.pem } });
  const answer = await request(`${registry.url}/v2/`, { dispatcher: client });
  await answer.body.dump();
  await client.close();
  assert.equal(answer.statusCode, 401);
  assert.match(String(answer.headers["www-authenticate"]), /^Basic realm=/);
});

test("rejects an invalid chart with Helm's message, and publishes nothing", async (t) => {
  const dir = await testDir(t);
  await writeFile(
    join(dir, "Chart.yaml"),
    "apiVersion: v2\nname: broken\nversion: not-a-version\n",
  );
  const chartsDir = join(dir, "charts");
  await mkdir(chartsDir);

  await assert.rejects(
    publishChart(dir, { helm, to: { chartsDir } }),
    /helm package .*: .*version/s,
  );
  assert.deepEqual(await readdir(chartsDir), []);
});
