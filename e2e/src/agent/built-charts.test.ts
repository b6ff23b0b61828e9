/** Charts that the agent makes, installed by the real Helm, and compared with those that Helm packages from the same files. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createFetchArchive, inspectReply, performBuildTask } from "@flotilla/agent/helm";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startTestBucketServer, testDir } from "@flotilla/local/testing";
import type { DeploymentState } from "@flotilla/proto";
import { configMaps } from "@flotilla/shared/kube/objects";
import type { ChartBuild, FetchArchive, GitPin, Pin } from "@flotilla/shared/source";
import { createSourceClient, type SourceClient } from "@flotilla/shared/source/client";
import type { GitClient } from "@flotilla/shared/source/git";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import { afterAll, onTestFinished, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";

const { client, charts, spec } = await startAgentCluster();
const agent = await startInstaller(spec);
afterAll(() => agent.stop());
const dir = await testDir({ onTestFinished: afterAll });
const { helm } = await ensureBinaries(["helm"]);
const redis = await configChart("redis", "7.1.0");
charts.publish(redis, await configChart("redis", "7.2.0"));

const run = promisify(execFile);
const environment = { HOME: join(dir, "home"), KUBECONFIG: spec.kubeconfig };

function runHelm(...args: readonly string[]) {
  return run(helm, args, { env: environment }).then(({ stdout }) => stdout);
}

type Files = Readonly<Record<string, string>>;

const template = (name: string, value: string) => `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-${name}"}
data: {value: {{ ${value} | quote }}, version: {{ .Chart.Version | quote }}}
`;

/** With each kind of dependency, links, rules, and what YAML could read differently. */
const shop: Files = {
  "charts/shop/Chart.yaml": `apiVersion: v2
name: shop
version: 1.0.0
appVersion: 1.20
description: "yes"
annotations: {a: "on", b: "0o7", c: "1e3"}
dependencies:
  - name: redis
    version: "~7.1.0"
    repository: ${charts.url}
    alias: cache
    condition: cache.enabled
  - name: redis
    version: ">=7.1.0 <7.2.0"
    repository: ${charts.url}
    alias: queue
    tags: [queues]
  - {name: common, version: 1.x.x, repository: "file://../common"}
`,
  "charts/shop/values.yaml":
    "greeting: hello\nbig: 12345678901234567890\nmode: 0644\ncache: {greeting: cached}\n",
  "charts/shop/templates/app.yaml": template("app", "toJson .Values"),
  "charts/shop/templates/files.yaml": template("files", '.Files.Get "files/a.txt"'),
  "charts/shop/templates/.hidden.yaml": "not: {{ a template",
  "charts/shop/templates/NOTES.txt": "{{ .Chart.AppVersion }} {{ .Chart.Description }}",
  "charts/shop/files/a.txt": "a",
  "charts/shop/files/a.bak": "b",
  "charts/shop/.helmignore": "*.bak\n/ignored/\n",
  "charts/shop/ignored/templates/x.yaml": "x",
  "charts/common/Chart.yaml": "apiVersion: v2\nname: common\nversion: 1.3.0\n",
  "charts/common/templates/common.yaml": template("common", ".Chart.Name"),
  "environments/prod.yaml": "greeting: prod\ncache: {enabled: true}\nlist: [1]\n",
};

async function write(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function deploy(name: string, pin: Pin): Promise<DeploymentState> {
  const assignment = await assignmentOf({ name, chart: redis, url: charts.url, pin });
  await agent.intake.assign(assignment);
  return await agent.report(
    (state) =>
      state.name === name &&
      state.deploymentId === assignment.deploymentId &&
      (state.phase === "deployed" || state.phase === "failed"),
  );
}

async function listed(namespace: string): Promise<string> {
  const [release] = JSON.parse(await runHelm("list", "-n", namespace, "-o", "json"));
  return release.chart;
}

/** A commit of a real Git repository with these files. */
async function committed(name: string, files: Files): Promise<GitPin> {
  const repository = await createRepository(join(dir, "git"), `${name}.git`);
  const commit = await repository.commit(files);
  const version = `1.0.0+${commit.slice(0, 12)}`;
  const url = git.url(repository.name);
  return { kind: "git", version, url, commit, path: "charts/shop", build: {} };
}

await mkdir(join(dir, "git"));
await mkdir(environment.HOME);
const git = await startGitHttpServer(join(dir, "git"));
afterAll(() => git[Symbol.asyncDispose]());

test("an archive is installed with its values files and the version of the pin", async () => {
  const pin: Pin = {
    ...{ kind: "http", version: "7.1.0+3", url: `${charts.url}/redis-7.1.0.tgz` },
    ...{ digest: `sha256:${redis.digest}`, build: { valuesFiles: ["values.yaml"] } },
  };
  const { phase, message } = await deploy("from-archive", pin);

  assert.equal(phase, "deployed", message);
  assert.equal(await listed("from-archive"), "redis-7.1.0+3");
  const config = await client.get(configMaps, {
    ...{ namespace: "from-archive", name: "from-archive-config" },
  });
  assert.deepEqual(config?.data, { version: "7.1.0+3", greeting: "hello" });
});

test("a chart of a Git repository is installed with its dependencies and values files", async () => {
  const pin = await committed("shop", shop);
  const build: ChartBuild = {
    valuesFiles: ["charts/shop/values.yaml", "environments/prod.yaml", "environments/none.yaml"],
    ignoreMissingValuesFiles: true,
  };
  const { phase, message } = await deploy("from-git", { ...pin, build });

  assert.equal(phase, "deployed", message);
  assert.equal(await listed("from-git"), `shop-${pin.version}`);
  const config = await client.get(configMaps, {
    ...{ namespace: "from-git", name: "from-git-config" },
  });
  assert.equal(config?.data?.["version"], "7.1.0");
});

test("a chart of a bucket is installed with its values files", async () => {
  const server = await startTestBucketServer({ onTestFinished });
  await server.createBucket("charts");
  for (const [path, text] of Object.entries(shop)) await server.put("charts", path, text);
  const { endpoint, keys } = server;
  const location = { endpoint, bucketName: "charts", insecure: true };
  const sources = createSourceClient({ userAgent: "flotilla-test" });
  onTestFinished(() => sources.close());
  const access = { origin: "", username: keys.accessKey, password: keys.secretKey };
  const { digest } = await sources.buckets.list(location, access, { timeoutMs: 60_000 });
  const pin: Pin = {
    ...{ kind: "bucket", version: `1.0.0+${digest.slice(7, 19)}.2`, ...location, digest },
    ...{ path: "charts/shop", build: { valuesFiles: ["environments/prod.yaml"] } },
  };
  const chunks: Buffer[] = [];
  const fetch = fetchArchive(join(dir, "bucket-builds"), sources);
  await fetch(pin, collectInto(chunks), {
    ...{ access, timeoutMs: 60_000, maxBytes: 10_000_000 },
  });
  const archive = join(dir, "bucket.tgz");
  await writeFile(archive, Buffer.concat(chunks));

  await runHelm("install", "from-bucket", archive, "--create-namespace", "-n", "from-bucket");
  assert.equal(await listed("from-bucket"), `shop-${pin.version}`);
  assert.match(await runHelm("get", "values", "--all", "from-bucket", "-n", "from-bucket"), /prod/);
});

test.each<[string, Partial<GitPin>, RegExp]>([
  [
    "path",
    { path: "charts/none" },
    /chart path "charts\/none" does not exist in .*@sha1:[0-9a-f]{40}/,
  ],
  [
    "values",
    { build: { valuesFiles: ["none.yaml"] } },
    /the values file "none.yaml" does not exist/,
  ],
  ["commit", { commit: "1".repeat(40) }, /1{40}/],
])("a chart of a Git repository with a wrong %s says so", async (name, wrong, expected) => {
  const pin = await committed(`wrong-${name}`, shop);
  const { phase, message } = await deploy(`wrong-${name}`, { ...pin, ...wrong });

  assert.equal(phase, "failed");
  assert.match(message, expected);
});

test.each<[string, Files, boolean]>([
  ["dependencies in Chart.yaml", shop, false],
  ["dependencies in Chart.lock", shop, true],
  [
    "requirements.yaml",
    {
      ...shop,
      "charts/shop/Chart.yaml": "apiVersion: v1\nname: shop\nversion: 1.0.0\n",
      "charts/shop/requirements.yaml": `dependencies: [{name: redis, version: ">=7.1.0 <7.2.0", repository: "${charts.url}"}]\n`,
    },
    true,
  ],
  [
    "no rules and no values",
    {
      "charts/shop/Chart.yaml": "name: shop\nversion: 1.0.0\n",
      "charts/shop/templates/app.yaml": template("app", ".Chart.APIVersion"),
    },
    false,
  ],
])("renders as the chart that Helm packages: %s", async (name, files, hasLock) => {
  const root = join(dir, name.replaceAll(/\W/g, "-"));
  const ours = join(root, "ours");
  const theirs = join(root, "theirs");
  await write(ours, files);
  await write(theirs, files);
  const chart = join(theirs, "charts", "shop");
  // Helm's own lock has a digest that ours must accept.
  await runHelm("dependency", hasLock ? "update" : "build", chart);
  if (hasLock) {
    const lock = `${name.startsWith("req") ? "requirements" : "Chart"}.lock`;
    await writeFile(join(ours, "charts", "shop", lock), await readFile(join(chart, lock)));
  }
  await runHelm("package", chart, "--version", "1.0.0+1", "--destination", root);

  const target = join(root, "ours.tgz");
  await buildFrom(ours, target);

  const [built, packaged] = await Promise.all(
    [target, join(root, "shop-1.0.0+1.tgz")].map(async (archive) => ({
      rendered: (await runHelm("template", "x", archive, "--set", "cache.enabled=true"))
        .split(/^---\n/m)
        .sort(),
      values: (await runHelm("show", "readme", archive)).trim(),
    })),
  );
  assert.deepEqual(built, packaged);
});

async function buildFrom(root: string, target: string): Promise<void> {
  const sources = createSourceClient({ userAgent: "flotilla-test" });
  const fetch = fetchArchive(join(root, "builds"), sources, async (_, to) => {
    await run("cp", ["-r", join(root, "charts"), to]);
  });
  const pin: GitPin = {
    ...{ kind: "git", version: "1.0.0+1", url: git.origin, commit: "0".repeat(40) },
    ...{ path: "charts/shop", build: {} },
  };
  const chunks: Buffer[] = [];
  const request = { access: { origin: git.origin }, timeoutMs: 60_000, maxBytes: 10_000_000 };
  await fetch(pin, collectInto(chunks), request);
  await writeFile(target, Buffer.concat(chunks));
  await sources.close();
}

function fetchArchive(
  builds: string,
  sources: SourceClient,
  checkout: GitClient["checkout"] = () => Promise.reject(new Error("not of Git")),
): FetchArchive {
  return createFetchArchive({
    ...{ charts: sources, git: { checkout }, dir: builds },
    async buildChart(task) {
      const value = await performBuildTask(task);
      return task.step === "inspect" ? inspectReply.parse(value).dependencies : [];
    },
  });
}

function collectInto(chunks: Buffer[]): (chunk: Buffer) => Promise<void> {
  return (chunk) => {
    chunks.push(chunk);
    return Promise.resolve();
  };
}
