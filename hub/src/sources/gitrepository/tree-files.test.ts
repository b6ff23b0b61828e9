import assert from "node:assert/strict";
import { createFairSemaphore } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { type GitClient, gitErrors, type WantedFile } from "@flotilla/shared/source/git";
import { test } from "vitest";
import { createTreeFiles, type FoundTree } from "./tree-files.ts";

const tree = { uid: "u-1", url: "https://git.example.com/app", commit: "c1" };
const request = {
  access: { origin: "https://git.example.com" },
  timeoutMs: 1_000,
  namespace: "apps",
};
const budget = createFairSemaphore({ capacity: 1_000, share: 1_000 });

/** The Chart.yaml of directories. */
const chartsIn = (...directories: readonly string[]) => ({
  contents: directories.map((each) => `${each}/Chart.yaml`),
  listed: [],
});

/** A server with files that have their path as content; `reads` are those that were made, each with its files. */
function aGit(options: { readonly tooLarge?: string } = {}) {
  const reads: (readonly WantedFile[])[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  let blocked: Promise<void> = Promise.resolve();
  const readFiles: GitClient["readFiles"] = async ({ files }, { signal, parse, reserve }) => {
    reads.push(files);
    signals.push(signal);
    await blocked;
    signal?.throwIfAborted();
    if (files.some(({ path }) => path === `${options.tooLarge}/Chart.yaml`))
      throw new AppError(gitErrors.GIT_TOO_LARGE, "too large");
    const found = files.filter(({ path }) => !path.startsWith("missing"));
    const contents = await Promise.all(
      found
        .filter(({ maxBytes }) => maxBytes !== undefined)
        .map(
          async ({ path }) =>
            [path, await reserve(1, async () => await parse(path, Buffer.from(path)))] as const,
        ),
    );
    return { present: new Set(found.map(({ path }) => path)), contents: new Map(contents) };
  };
  return {
    files: createTreeFiles({ git: { readFiles }, budget }),
    reads,
    signals,
    block: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      blocked = promise;
      return resolve;
    },
  };
}

/** The text of a file. */
function textOf(found: FoundTree | undefined, path: string): string | undefined {
  const file = found?.content(path);
  return file?.kind === "file" ? file.text : undefined;
}

test("a thousand charts of one tree at the same time are one read, and none later", async () => {
  const { files, reads } = aGit();
  const all = Array.from({ length: 1_000 }, (_, index) =>
    files.read(tree, chartsIn(`charts/${index % 10}`), request),
  );
  const found = await Promise.all(all);

  assert.equal(textOf(found[7], "charts/7/Chart.yaml"), "charts/7/Chart.yaml");
  assert.deepEqual(
    reads.map((paths) => paths.length),
    [10],
  );
  await files.read(tree, chartsIn("charts/3"), request);
  assert.equal(reads.length, 1);
});

test("a file that does not exist is not requested again", async () => {
  const { files, reads } = aGit();

  for (let times = 0; times < 2; times += 1)
    assert.equal(
      (await files.read(tree, chartsIn("missing"), request)).content("missing/Chart.yaml"),
      undefined,
    );

  assert.equal(reads.length, 1);
});

test("another commit, and another GitRepository of the same address, are read by themselves", async () => {
  const { files, reads } = aGit();

  for (const other of [tree, { ...tree, commit: "c2" }, { ...tree, uid: "u-2" }])
    await files.read(other, chartsIn("app"), request);

  assert.equal(reads.length, 3);
});

test("a read that failed is repeated by the next caller", async () => {
  let fails = true;
  const files = createTreeFiles({
    git: {
      readFiles: () =>
        fails
          ? Promise.reject(new AppError(gitErrors.GIT_FAILED, "no answer"))
          : Promise.resolve({ present: new Set(["values.yaml"]), contents: new Map() }),
    },
    budget,
  });
  const paths = { contents: [], listed: ["values.yaml"] };

  await assert.rejects(files.read(tree, paths, request), /no answer/);
  fails = false;
  assert.equal((await files.read(tree, paths, request)).has("values.yaml"), true);
});

test("of values files only the existence is asked, and of a packaged chart only its Chart.yaml is kept", async () => {
  const { files, reads } = aGit();

  const found = await files.read(
    tree,
    { contents: ["app.tgz", "app.tgz/Chart.yaml"], listed: ["zeros.yaml", "missing.yaml"] },
    request,
  );

  assert.deepEqual(reads, [
    [
      { path: "app.tgz", maxBytes: 10 * 1024 * 1024 },
      { path: "app.tgz/Chart.yaml", maxBytes: 256 * 1024 },
      { path: "zeros.yaml" },
      { path: "missing.yaml" },
    ],
  ]);
  assert.deepEqual([found.has("zeros.yaml"), found.has("missing.yaml")], [true, false]);
  const archive = found.content("app.tgz");
  assert.ok(archive?.kind === "archive" && archive.chart instanceof Error);
  assert.match(
    archive.chart.message,
    /^the chart at app\.tgz of commit c1 .* not a packaged chart/,
  );
});

test("a file that is too large fails only the charts that need it", async () => {
  const { files, block } = aGit({ tooLarge: "large" });
  const unblock = block();
  const first = files.read(tree, chartsIn("first"), request);
  const small = files.read(tree, chartsIn("small"), request);
  const large = files.read(tree, chartsIn("large"), request);
  unblock();

  assert.equal(textOf(await first, "first/Chart.yaml"), "first/Chart.yaml");
  assert.equal(textOf(await small, "small/Chart.yaml"), "small/Chart.yaml");
  await assert.rejects(large, { code: "GIT_TOO_LARGE" });
});

test("one caller that is aborted leaves the read to the others, and the last one ends it", async () => {
  const { files, signals, block } = aGit();
  const unblock = block();
  const [one, two] = [new AbortController(), new AbortController()];
  const results = [one, two].map(({ signal }) =>
    files.read(tree, chartsIn("app"), { ...request, signal }),
  );
  const ended = Promise.allSettled(results);

  one.abort();
  await Promise.allSettled(results.slice(0, 1));
  assert.equal(signals[0]?.aborted, false);
  two.abort();
  assert.deepEqual(
    (await ended).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(signals[0].aborted, true);
  unblock();
});
