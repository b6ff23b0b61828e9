import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type BuildTask, inspectReply, performBuildTask } from "./build-task.ts";
import { buildLimits } from "./chart-files.ts";
import { packChart } from "./pack-chart.ts";
import { readChartArchive } from "./read-archive.ts";
import { readChartDirectory } from "./read-directory.ts";

type Files = Readonly<Record<string, string | Buffer>>;

const shop = {
  "shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: 1.10\n",
  "shop/values.yaml": "replicas: 1\nimage: {name: shop, tag: a}\n",
  "shop/templates/app.yaml": "{{ .Values.replicas }}",
};

const dependency = (fields: string) =>
  `apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- ${fields}\n`;

async function temporary(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "build-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** A text that begins with `link:` is a symbolic link. */
async function tree(files: Files): Promise<string> {
  const dir = await temporary();
  for (const [path, content] of Object.entries(files)) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    if (typeof content === "string" && content.startsWith("link:"))
      await symlink(content.slice("link:".length), file);
    else await writeFile(file, content);
  }
  return dir;
}

interface BuildOptions {
  readonly path?: string;
  readonly version?: string;
  readonly valuesFiles?: string[];
  readonly ignoreMissingValuesFiles?: boolean;
  readonly dependencies?: Extract<BuildTask, { step: "package" }>["dependencies"];
  readonly maxBytes?: number;
}

async function build(files: Files, options: BuildOptions = {}): Promise<Record<string, string>> {
  const { path = "shop", version = "1.0.0+0123456789ab", dependencies = [], ...rest } = options;
  const source = { kind: "tree", root: await tree(files), path } as const;
  const target = join(await temporary(), "chart.tgz");
  await performBuildTask({
    ...{ step: "package", source, origin: "git@1", version, dependencies, target },
    maxBytes: 10_000_000,
    ...rest,
  });
  return await unpacked(target);
}

async function unpacked(path: string): Promise<Record<string, string>> {
  const files = await readChartArchive(await readFile(path), "read", buildLimits);
  return Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.toString()]));
}

async function missing(files: Files, path = "shop") {
  const source = { kind: "tree", root: await tree(files), path } as const;
  const reply = await performBuildTask({ step: "inspect", source, origin: "git@1" });
  return inspectReply.parse(reply).dependencies;
}

async function packed(name: string, version: string): Promise<string> {
  const target = join(await temporary(), "dependency.tgz");
  const chart = Buffer.from(`apiVersion: v2\nname: ${name}\nversion: ${version}\n`);
  await packChart(new Map([["Chart.yaml", chart]]), {
    origin: "1.0.0 at somewhere",
    name,
    target,
    maxBytes: 10_000,
  });
  return target;
}

describe("a chart in a directory", () => {
  test("gets the version of the pin, and keeps every other field", async () => {
    const { "Chart.yaml": chart, ...others } = await build(shop);

    expect(JSON.parse(chart ?? "")).toEqual({
      ...{ apiVersion: "v2", name: "shop", version: "1.0.0+0123456789ab", appVersion: 1.1 },
    });
    expect(Object.keys(others)).toEqual(["templates/app.yaml", "values.yaml"]);
  });

  test("has equal bytes each time", async () => {
    const targets = [];
    for (let at = 0; at < 2; at += 1) {
      const target = join(await temporary(), "chart.tgz");
      const source = { kind: "tree", root: await tree(shop), path: "shop" } as const;
      await performBuildTask({
        ...{ step: "package", source, origin: "git@1", version: "1.0.0" },
        ...{ dependencies: [], target, maxBytes: 10_000 },
      });
      targets.push(await readFile(target));
    }
    expect(targets[0]).toEqual(targets[1]);
  });

  test("leaves out what .helmignore names, and hidden files among the templates", async () => {
    const files = await build({
      ...shop,
      "shop/.helmignore": "# no tests\n*.bak\ntests/\n/notes.txt\n",
      "shop/a.bak": "",
      "shop/tests/x.yaml": "",
      "shop/notes.txt": "",
      "shop/docs/notes.txt": "kept",
      "shop/templates/.hidden": "",
    });
    expect(Object.keys(files)).toEqual([
      ...["Chart.yaml", ".helmignore", "docs/notes.txt", "templates/app.yaml", "values.yaml"],
    ]);
  });

  test("has the files behind links within the source", async () => {
    const files = await build({
      ...shop,
      "common/x.txt": "common",
      "shop/x.txt": "link:../common/x.txt",
    });
    expect(files["x.txt"]).toBe("common");
  });

  test("may itself be an archive", async () => {
    const archive = await readFile(await packed("shop", "1.0.0"));
    const files = await build({ "charts/shop.tgz": archive }, { path: "charts/shop.tgz" });
    expect(JSON.parse(files["Chart.yaml"] ?? "").version).toBe("1.0.0+0123456789ab");
  });

  test.each<[string, Files, BuildOptions, string, RegExp]>([
    [
      "a path that does not exist",
      shop,
      { path: "no" },
      "CHART_NOT_IN_SOURCE",
      /"no" does not exist in git@1/,
    ],
    [
      "a path out of the source",
      shop,
      { path: "../x" },
      "CHART_NOT_IN_SOURCE",
      /leads out of the source/,
    ],
    [
      "a directory that is not a chart",
      shop,
      { path: "shop/templates" },
      "CHART_NOT_IN_SOURCE",
      /no Chart.yaml/,
    ],
    [
      "a link out of the source",
      { ...shop, "shop/x": "link:/etc/hostname" },
      {},
      "CHART_BUILD",
      /"shop\/x" is a symbolic link out/,
    ],
    [
      "a directory behind a link out of the source",
      { ...shop, "shop/x": "link:/etc" },
      {},
      "CHART_BUILD",
      /link out/,
    ],
    [
      "a chart behind a link out of the source",
      { x: "link:/etc" },
      { path: "x" },
      "CHART_BUILD",
      /link out/,
    ],
    ["a link to nothing", { ...shop, "shop/x": "link:y" }, {}, "CHART_BUILD", /link to nothing/],
    [
      "a directory within itself",
      { ...shop, "shop/x": "link:." },
      {},
      "CHART_BUILD",
      /more than 32 directories/,
    ],
    [
      "a large file",
      { ...shop, "shop/x": Buffer.alloc(5 * 1024 * 1024 + 1) },
      {},
      "CHART_BUILD",
      /"shop\/x" has more than 5 MiB/,
    ],
    [
      "a large chart",
      shop,
      { maxBytes: 100 },
      "CHART_BUILD",
      /: the packaged chart has more than 100 bytes/,
    ],
    [
      "a name with a slash",
      { "shop/Chart.yaml": "name: a/b\nversion: 1.0.0" },
      {},
      "CHART_BUILD",
      /name is invalid/,
    ],
    ["Chart.yaml that is not YAML", { "shop/Chart.yaml": "a: [" }, {}, "CHART_BUILD", /Chart.yaml/],
    [
      "a rule that Helm rejects",
      { ...shop, "shop/.helmignore": "a/**" },
      {},
      "CHART_BUILD",
      /\*\* is not supported/,
    ],
    ["no archive", { "x.tgz": "text" }, { path: "x.tgz" }, "CHART_BUILD", /not a packaged chart/],
  ])("is rejected with %s", async (_, files, options, code, message) => {
    await expect(build(files, options)).rejects.toMatchObject({
      ...{ code, message: expect.stringMatching(message) },
    });
  });

  test("is rejected with too many files, or too many bytes", async () => {
    const root = await tree(shop);
    const few = { ...buildLimits, files: 2 };
    await expect(readChartDirectory(root, "shop", few)).rejects.toThrow(/more than 2 files/);
    const short = { ...buildLimits, chartBytes: 50 };
    await expect(readChartDirectory(root, "shop", short)).rejects.toThrow(/more than 50 bytes/);
  });
});

describe("values files", () => {
  const files = {
    ...shop,
    "prod.yaml": "replicas: 3\nimage: {tag: b}\nlist: [1]\nid: 12345678901234567890\n",
    "shop/list.yaml": "list: [2, 3]\n",
  };

  test("replace values.yaml, the last one wins", async () => {
    const { "values.yaml": values } = await build(files, {
      valuesFiles: ["shop/values.yaml", "./prod.yaml", "shop/list.yaml"],
    });
    expect(values).toBe(
      '{"id":12345678901234567890,"image":{"name":"shop","tag":"b"},"list":[2,3],"replicas":3}\n',
    );
  });

  test("of an archive are in the chart", async () => {
    const archive = join(await temporary(), "shop.tgz");
    const content = await readChartDirectory(await tree(files), "shop", buildLimits);
    await packChart(content, {
      origin: "1.0.0 at somewhere",
      name: "shop",
      target: archive,
      maxBytes: 10_000,
    });
    const target = join(await temporary(), "chart.tgz");
    await performBuildTask({
      step: "package",
      source: { kind: "archive", file: archive },
      ...{ origin: "1.0.0 at x", version: "1.0.0+1", target, maxBytes: 10_000 },
      ...{ valuesFiles: ["list.yaml"], dependencies: [] },
    });
    expect((await unpacked(target))["values.yaml"]).toBe('{"list":[2,3]}\n');
  });

  test("that are missing are an error, or ignored", async () => {
    const valuesFiles = ["no.yaml", "prod.yaml"];
    await expect(build(files, { valuesFiles })).rejects.toMatchObject({
      ...{ code: "CHART_VALUES_FILE", message: 'the values file "no.yaml" does not exist' },
    });
    const { "values.yaml": values } = await build(files, {
      ...{ valuesFiles, ignoreMissingValuesFiles: true },
    });
    expect(values).toContain('"replicas":3');
  });

  test.each([
    ["../x.yaml", /not in the source/],
    ["shop/templates/app.yaml", /app.yaml/],
    ["text.yaml", /is not a map/],
  ])("are rejected: %s", async (path, message) => {
    const built = build({ ...files, "text.yaml": "text" }, { valuesFiles: [path] });
    await expect(built).rejects.toMatchObject({
      ...{ code: "CHART_VALUES_FILE", message: expect.stringMatching(message) },
    });
  });
});

describe("dependencies", () => {
  const redis = { name: "redis", version: "^7.0.0", repository: "https://charts.example.com" };
  const needsRedis = {
    ...shop,
    "shop/Chart.yaml": dependency(
      'name: redis\n  version: ^7.0.0\n  repository: "https://charts.example.com"\n  alias: cache',
    ),
  };

  test("are those of Chart.yaml that are not in the folder charts", async () => {
    expect(await missing(needsRedis)).toEqual([redis]);
    const kept = { "shop/charts/redis/Chart.yaml": "name: redis\nversion: 6.0.0\n" };
    expect(await missing({ ...needsRedis, ...kept })).toEqual([]);
    const archive = await readFile(await packed("redis", "7.1.0"));
    expect(await missing({ ...needsRedis, "shop/charts/x.tgz": archive })).toEqual([]);
    expect(await missing({ ...needsRedis, "shop/charts/_x.tgz": archive })).toEqual([redis]);
  });

  test("are packed as they were downloaded", async () => {
    const file = await packed("redis", "7.1.0");
    const files = await build(needsRedis, { dependencies: [{ ...redis, file }] });
    expect(Object.keys(files)).toContain("charts/redis-7.1.0.tgz");
  });

  test("of another name are rejected", async () => {
    const file = await packed("valkey", "7.1.0");
    await expect(build(needsRedis, { dependencies: [{ ...redis, file }] })).rejects.toThrow(
      'dependency "redis": https://charts.example.com has the chart "valkey" under that name',
    );
  });

  test("in the same source are packed with it, without what they ignore", async () => {
    const files = await build({
      ...shop,
      "shop/Chart.yaml": dependency("name: lib\n  version: 1.x\n  repository: file://../libs/lib"),
      "libs/lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.2.0\n",
      "libs/lib/.helmignore": "x\n",
      "libs/lib/x": "",
    });
    expect(Object.keys(files).filter((path) => path.startsWith("charts/"))).toEqual([
      ...["charts/lib-1.2.0/.helmignore", "charts/lib-1.2.0/Chart.yaml"],
    ]);
  });

  test.each([
    [
      "name: x\n  version: 1.x\n  repository: '@stable'",
      /"@stable" is a name from the configuration/,
    ],
    ["name: x\n  version: 1.x\n  repository: 'alias:stable'", /"alias:stable" is a name/],
    ["name: x\n  version: 1.x", /no repository, and is not in the folder charts/],
    ["name: x\n  version: 1.x\n  repository: git://a", /has to begin with/],
    ["name: x\n  version: 1.x\n  repository: file://../../x", /leads out of the source/],
    ["name: x\n  version: 1.x\n  repository: file://../x", /does not exist in the source/],
    ["name: x\n  version: 1.x\n  repository: file://../other", /is the chart "other"/],
    [
      "name: other\n  version: 1.x\n  repository: file://../other",
      /has version 2.0.0, which "1.x" does not allow/,
    ],
  ])("are rejected: %s", async (fields, message) => {
    const files = {
      "shop/Chart.yaml": dependency(fields),
      "other/Chart.yaml": "name: other\nversion: 2.0.0\n",
    };
    await expect(build(files)).rejects.toMatchObject({
      ...{ code: "CHART_DEPENDENCY", message: expect.stringMatching(message) },
    });
  });

  test("need a Chart.lock that belongs to Chart.yaml", async () => {
    const lock =
      "dependencies:\n- name: redis\n  version: 7.0.1\n  repository: https://charts.example.com\ndigest: sha256:00\n";
    await expect(missing({ ...needsRedis, "shop/Chart.lock": lock })).rejects.toThrow(
      "Chart.lock is out of sync with the dependencies in Chart.yaml",
    );
  });
});
