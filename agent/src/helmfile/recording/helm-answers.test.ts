import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RepositoryAccess, SourceLocation } from "@flotilla/shared/source";
import { describe, type TestContext, test } from "vitest";
import type { ChartDesk, ChartInspection } from "../charts/chart-desk.ts";
import type { RelayEnd, RelayHands, TakenEntry } from "../relay/open-relay.ts";
import { HelmAnswers } from "./helm-answers.ts";

/** A run in memory: files and folders by their paths; the bytes of a folder are its text. */
interface Run {
  readonly answers: HelmAnswers;
  helm(line: string, directory?: string): Promise<RelayEnd>;
  readonly downloads: (readonly [SourceLocation, string, RepositoryAccess])[];
  readonly put: Map<string, string>;
}

interface RunOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly folders?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly installed?: readonly string[];
  readonly inspection?: (origin: string) => Partial<ChartInspection>;
}

async function startRun(t: TestContext, options: RunOptions = {}): Promise<Run> {
  const { files = {}, folders = {}, input = "", installed = [], inspection } = options;
  const dir = await mkdtemp(join(tmpdir(), "answers-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, "chart.tgz");
  await writeFile(file, "archive");
  const downloads: Run["downloads"] = [];
  const put = new Map<string, string>();
  const desk: ChartDesk = {
    download(location, constraint, access) {
      downloads.push([location, constraint, access]);
      return Promise.resolve({ name: "far", version: "1.2.3", digest: "sha256:far", file });
    },
    inspect: ({ origin }) =>
      Promise.resolve({
        name: "a",
        version: "1",
        dependencies: [],
        local: [],
        ...inspection?.(origin),
      }),
    pack: ({ bytes }) =>
      Promise.resolve({ name: bytes.toString(), version: "0.1.0", digest: "sha256:near", file }),
    unpacked: () => Promise.resolve(Buffer.from("tar")),
  };
  const hands: RelayHands = {
    input: () => Promise.resolve(Buffer.from(input)),
    take(path): Promise<TakenEntry | undefined> {
      const [text, folder] = [files[path], folders[path]];
      if (text !== undefined) return Promise.resolve({ kind: "file", bytes: Buffer.from(text) });
      if (folder === undefined) return Promise.resolve(undefined);
      return Promise.resolve({ kind: "folder", archive: Buffer.from(folder) });
    },
    put(path, bytes) {
      put.set(path, Buffer.from(bytes).toString());
      return Promise.resolve();
    },
    unpack(path, archive) {
      put.set(path, Buffer.from(archive).toString());
      return Promise.resolve();
    },
    execute: () => Promise.resolve(7),
  };
  const answers = new HelmAnswers({
    desk,
    helm: { program: "/bin/helm", version: "v4.3.1" },
    isInstalled: ({ name, namespace = "default" }) => installed.includes(`${namespace}/${name}`),
  });
  return {
    answers,
    helm: (line, directory = "/tree") =>
      answers.answer({ program: "helm", arguments: line.split(" "), directory }, hands),
    downloads,
    put,
  };
}

describe("an upgrade is recorded", () => {
  test("with its chart, the bytes of its values and its options", async (t) => {
    const run = await startRun(t, {
      folders: { "/tree/charts/app": "app" },
      files: { "/tree/v.yaml": "a: 1", "/tree/note.txt": "text" },
    });

    const end = await run.helm(
      "upgrade --install web ./charts/app --namespace shop --wait --values v.yaml --set-file n=note.txt --set b=2",
    );

    assert.equal(end.code, 0);
    assert.deepEqual(
      run.answers.recording.upgrades.map(({ chart: { name, version }, values, ...rest }) => ({
        ...rest,
        chart: `${name} ${version}`,
        values: values.map(({ flag, files }) => [
          flag,
          [...files].map(([path, bytes]) => [path, bytes.toString()]),
        ]),
      })),
      [
        {
          name: "web",
          namespace: "shop",
          options: { wait: "watcher" },
          chart: "app 0.1.0",
          values: [
            ["values", [["v.yaml", "a: 1"]]],
            ["set-file", [["note.txt", "text"]]],
            ["set", []],
          ],
        },
      ],
    );
  });

  test("with the range of the helmfile where the chart has one version of it", async (t) => {
    const run = await startRun(t);
    await run.helm("repo add stable https://charts.example.com --force-update");
    await run.helm("upgrade --install a stable/far --version ~1.2");
    await run.helm("upgrade --install b stable/far --version 1.2.3");

    assert.deepEqual(
      run.answers.recording.upgrades.map(({ range }) => range),
      ["~1.2", undefined],
    );
  });

  test("with a path of the run before a repository of that name", async (t) => {
    const run = await startRun(t, { folders: { "/tree/stable/far": "near" } });
    await run.helm("repo add stable https://charts.example.com");
    await run.helm("upgrade --install a stable/far");

    assert.deepEqual(run.downloads, []);
    assert.equal(run.answers.recording.upgrades[0]?.chart.name, "near");
  });
});

describe("a chart is downloaded", () => {
  test("with the credentials that the run has given, which nothing prints", async (t) => {
    const run = await startRun(t, { input: "secret\n" });
    const ends = [
      await run.helm("repo add own https://c.example.com --username u --password-stdin"),
      await run.helm("registry login r.example.com --username u --password-stdin"),
      await run.helm("upgrade --install a own/app"),
      await run.helm("pull oci://r.example.com/app --version 1.0.0 --untar --destination /c/app"),
    ];

    const credentials = { username: "u", password: "secret" };
    assert.deepEqual(run.downloads, [
      [
        { kind: "http", repository: "https://c.example.com", chart: "app" },
        "",
        { origin: "https://c.example.com", ...credentials, passCredentials: false },
      ],
      [
        { kind: "oci", repository: "oci://r.example.com/app" },
        "1.0.0",
        { origin: "oci://r.example.com", ...credentials },
      ],
    ]);
    assert.equal(run.put.get("/c/app"), "tar");
    assert.doesNotMatch(JSON.stringify(ends), /secret/);
  });

  test("for the dependencies of a chart, and those beside it are packed", async (t) => {
    const remote = { name: "far", version: "1.x", repository: "https://c.example.com" };
    const run = await startRun(t, {
      folders: { "/tree/charts/app": "app", "/tree/charts/lib": "lib", "/abs/lib": "absolute" },
      inspection: (origin) =>
        origin === "the chart charts/app"
          ? {
              dependencies: [remote],
              local: [
                { name: "lib", version: "1", path: "../lib" },
                { name: "absolute", version: "1", path: "/abs/lib" },
              ],
            }
          : {},
    });

    assert.equal((await run.helm("dependency build charts/app")).code, 0);

    assert.deepEqual([...run.put.keys()].sort(), [
      "/tree/charts/app/charts/absolute-0.1.0.tgz",
      "/tree/charts/app/charts/far-1.2.3.tgz",
      "/tree/charts/app/charts/lib-0.1.0.tgz",
    ]);
  });
});

describe("a release", () => {
  test("is listed if it is installed, and recorded if it is to be uninstalled", async (t) => {
    const run = await startRun(t, { installed: ["hf/gone"] });
    const states = "--uninstalling --deployed --failed --pending";

    const listed = await run.helm(`list --filter ^gone$ --namespace hf ${states}`);
    const absent = await run.helm(`list --filter ^none$ --namespace hf ${states}`);
    await run.helm("delete gone --namespace hf");

    assert.match(listed.stdout ?? "", /^NAME.*\ngone\thf\t/);
    assert.match(absent.stdout ?? "", /^NAME.*\n$/);
    assert.deepEqual(run.answers.recording.uninstalls, [{ name: "gone", namespace: "hf" }]);
  });

  test("is rendered by Helm itself, in the sandbox", async (t) => {
    const run = await startRun(t);
    assert.deepEqual(await run.helm("template a ./a"), { code: 7 });
  });
});

describe("a command that is not carried out", () => {
  const big = "upgrade --install a ./app --values big.yaml";
  const address = "upgrade --install a https://u:secret@h/c.tgz";
  const rows: readonly (readonly [line: string, kind: string, why: RegExp])[] = [
    ["upgrade --install a ./none", "failed", /^release a: the chart \.\/none is neither a folder/],
    ["upgrade --install a other/far", "failed", /^release a: the chart other\/far is neither/],
    [address, "failed", /^release a: its chart has an address with a user/],
    ["upgrade --install a ./app --values x", "failed", /^release a: --values: x is not a file/],
    ["upgrade --install a ./app --kube-token secret", "refused", /^helm upgrade a: --kube-token: /],
    [big, "limit", /^release a: the values of the helmfile have more than 8 MiB$/],
    ["list --filter .* --namespace a", "failed", /^helm list is supported for one name only/],
    ["pull oci://r.example.com/app", "failed", /^helm pull is supported with --untar only$/],
    ["dependency build loop", "failed", /^charts depend on each other over more than 8 folders$/],
  ];
  for (const [line, kind, why] of rows)
    test(`ends with code 1 and the reason: ${line}`, async (t) => {
      const run = await startRun(t, {
        folders: { "/tree/app": "app", "/tree/loop": "loop" },
        files: { "/tree/big.yaml": "x".repeat(8 * 1024 * 1024 + 1) },
        inspection: (origin) =>
          origin.endsWith("loop")
            ? { local: [{ name: "loop", version: "1", path: "../loop" }] }
            : {},
      });

      const end = await run.helm(line);

      const { failure } = run.answers;
      assert.equal(end.code, 1);
      assert.match(failure?.why ?? "", why);
      assert.equal(failure?.kind, kind);
      assert.equal(end.stderr, `Error: ${failure.why}\n`);
      assert.doesNotMatch(end.stderr, /secret/);
      assert.deepEqual(run.answers.recording.upgrades, []);
    });

  test("is the first of several in what people read", async (t) => {
    const run = await startRun(t);
    await run.helm("upgrade --install a ./none");
    await run.helm("upgrade --install b ./none");
    assert.match(run.answers.failure?.why ?? "", /^release a: /);
  });

  test("is no failure if helmfile does without it", async (t) => {
    const run = await startRun(t);
    assert.equal((await run.helm("show chart stable/far")).code, 1);
    assert.equal(run.answers.failure, undefined);
  });

  test("is any after too many of them", async (t) => {
    const run = await startRun(t);
    for (let ran = 0; ran < 10_000; ran++)
      assert.equal((await run.helm("version --short")).code, 0);
    assert.equal((await run.helm("version --short")).code, 1);
    assert.equal(run.answers.failure?.kind, "limit");
  });
});
