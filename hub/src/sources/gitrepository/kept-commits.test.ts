import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { gitErrors } from "@flotilla/shared/source/git";
import { test } from "vitest";
import { createKeptCommits } from "./kept-commits.ts";

const url = "https://git.example.com/app";
const request = { access: { origin: "https://git.example.com" }, timeoutMs: 1_000 };
const earlier = { uid: "u-1", url, commit: "c1" };

function keptCommits(failure?: AppError) {
  const requests: unknown[] = [];
  const commits = createKeptCommits({
    resolve(_, ref) {
      requests.push(ref);
      const { commit = "" } = ref;
      return failure === undefined
        ? Promise.resolve({ revision: `sha1:${commit}`, commit })
        : Promise.reject(failure);
    },
  });
  return { commits, requests };
}

test("an earlier commit is requested once for each commit of the GitRepository, for all charts of it", async () => {
  const { commits, requests } = keptCommits();
  const all = Array.from({ length: 1_000 }, () =>
    commits.isThere(earlier, { commit: "c2" }, request),
  );

  assert.ok((await Promise.all(all)).every(Boolean));
  assert.ok(await commits.isThere(earlier, { commit: "c2" }, request));
  assert.deepEqual(requests, [{ commit: "c1" }]);
  await commits.isThere(earlier, { commit: "c3" }, request);
  assert.equal(requests.length, 2);
});

test("the commit that the GitRepository has now is not requested", async () => {
  const { commits, requests } = keptCommits();

  assert.ok(await commits.isThere(earlier, { commit: "c1" }, request));
  assert.deepEqual(requests, []);
});

test("a commit that the server does not have any more is not there", async () => {
  const { commits } = keptCommits(new AppError(gitErrors.GIT_COMMIT_NOT_FOUND, "gone"));

  assert.equal(await commits.isThere(earlier, { commit: "c2" }, request), false);
});

test("a server that does not answer is asked again", async () => {
  const { commits, requests } = keptCommits(new AppError(gitErrors.GIT_UNREACHABLE, "no answer"));

  for (let times = 0; times < 2; times += 1)
    await assert.rejects(commits.isThere(earlier, { commit: "c2" }, request), /no answer/);
  assert.equal(requests.length, 2);
});
