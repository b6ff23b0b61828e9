import assert from "node:assert/strict";
import type { GitClient } from "@flotilla/shared/source/git";
import { settle } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { limitGit } from "./limited-git.ts";

const request = { access: { origin: "" }, timeoutMs: 1_000 };

/** A client whose uses run until `end` is called. */
function aGit() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const resolve: GitClient["resolve"] = async (url) => {
    begun.push(url);
    await new Promise<void>((ended) => ends.push(ended));
    return { commit: "c", revision: "main@sha1:c" };
  };
  const unused = () => Promise.reject(new Error("unused"));
  const git = limitGit({ resolve, readFiles: unused, verify: unused }, 2);
  return { begun, end: () => ends.shift()?.(), git };
}

test("uses of one server wait for each other, and not for those of another one", async () => {
  const { begun, end, git } = aGit();
  const urls = ["https://a/1", "https://a/2", "https://a/3", "https://b/1"];
  const all = urls.map((url) => git.resolve(url, {}, request));

  await settle();
  assert.deepEqual(begun, ["https://a/1", "https://a/2", "https://b/1"]);
  end();
  await settle();
  assert.deepEqual(begun.slice(3), ["https://a/3"]);
  for (let times = 0; times < 3; times += 1) end();
  assert.equal((await Promise.all(all)).length, 4);
});

test("a use that is aborted while it waits does not begin", async () => {
  const { begun, end, git } = aGit();
  const stop = new AbortController();
  const first = [1, 2].map(() => git.resolve("https://a/1", {}, request));
  const waiting = git.resolve("https://a/2", {}, { ...request, signal: stop.signal });
  await settle();

  stop.abort();
  end();
  await assert.rejects(waiting, { name: "AbortError" });
  end();
  await Promise.all(first);

  assert.deepEqual(begun, ["https://a/1", "https://a/1"]);
});
