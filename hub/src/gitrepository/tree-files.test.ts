import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { type GitClient, gitErrors } from "@flotilla/shared/source/git";
import { test } from "vitest";
import { createTreeFiles } from "./tree-files.ts";

const tree = { uid: "u-1", url: "https://git.example.com/app", commit: "c1" };
const request = { access: { origin: "https://git.example.com" }, timeoutMs: 1_000, maxBytes: 100 };

/** A server with files that have their path as content; `reads` are those that were made, each with its paths. */
function aGit(options: { readonly tooLarge?: string } = {}) {
  const reads: (readonly string[])[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  let blocked: Promise<void> = Promise.resolve();
  const readFiles: GitClient["readFiles"] = async ({ paths }, { signal }) => {
    reads.push(paths);
    signals.push(signal);
    await blocked;
    signal?.throwIfAborted();
    if (paths.some((path) => path === options.tooLarge))
      throw new AppError(gitErrors.GIT_TOO_LARGE, "too large");
    return new Map(
      paths.map((path) => [path, path === "missing" ? undefined : Buffer.from(path)] as const),
    );
  };
  return {
    files: createTreeFiles({ readFiles }),
    reads,
    signals,
    block: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      blocked = promise;
      return resolve;
    },
  };
}

test("a thousand charts of one tree at the same time are one read, and none later", async () => {
  const { files, reads } = aGit();
  const all = Array.from({ length: 1_000 }, (_, index) =>
    files.read(tree, [`charts/${index % 10}/Chart.yaml`], request),
  );
  const found = await Promise.all(all);

  assert.equal(String(found[7]?.get("charts/7/Chart.yaml")), "charts/7/Chart.yaml");
  assert.deepEqual(
    reads.map((paths) => paths.length),
    [10],
  );
  await files.read(tree, ["charts/3/Chart.yaml"], request);
  assert.equal(reads.length, 1);
});

test("a file that does not exist is not requested again", async () => {
  const { files, reads } = aGit();

  for (let times = 0; times < 2; times += 1)
    assert.equal((await files.read(tree, ["missing"], request)).get("missing"), undefined);

  assert.equal(reads.length, 1);
});

test("another commit, and another GitRepository of the same address, are read by themselves", async () => {
  const { files, reads } = aGit();

  for (const other of [tree, { ...tree, commit: "c2" }, { ...tree, uid: "u-2" }])
    await files.read(other, ["Chart.yaml"], request);

  assert.equal(reads.length, 3);
});

test("a read that failed is repeated by the next caller", async () => {
  let fails = true;
  const files = createTreeFiles({
    readFiles: ({ paths }) =>
      fails
        ? Promise.reject(new AppError(gitErrors.GIT_FAILED, "no answer"))
        : Promise.resolve(new Map(paths.map((path) => [path, Buffer.from("a")]))),
  });

  await assert.rejects(files.read(tree, ["Chart.yaml"], request), /no answer/);
  fails = false;
  assert.equal(String((await files.read(tree, ["Chart.yaml"], request)).get("Chart.yaml")), "a");
});

test("a file that is too large fails only the charts that need it", async () => {
  const { files, block } = aGit({ tooLarge: "large" });
  const unblock = block();
  const first = files.read(tree, ["first"], request);
  const small = files.read(tree, ["small"], request);
  const large = files.read(tree, ["large"], request);
  unblock();

  assert.equal(String((await first).get("first")), "first");
  assert.equal(String((await small).get("small")), "small");
  await assert.rejects(large, { code: "GIT_TOO_LARGE" });
});

test("one caller that is aborted leaves the read to the others, and the last one ends it", async () => {
  const { files, signals, block } = aGit();
  const unblock = block();
  const [one, two] = [new AbortController(), new AbortController()];
  const results = [one, two].map(({ signal }) =>
    files.read(tree, ["Chart.yaml"], { ...request, signal }),
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
