import assert from "node:assert/strict";
import { afterAll, describe, test } from "vitest";
import { accessToGit } from "./index.ts";
import { createRepository, serveApp, startGitHttpServer } from "./testing/index.ts";

const timeoutMs = 20_000;
const served = await serveApp();
afterAll(() => served[Symbol.asyncDispose]());
const { root, server, client, newDir } = served;

describe("each failure of a Git repository has one clear error:", () => {
  test("a branch and a repository that are gone", async () => {
    const url = server.url("app.git");
    const gone = server.url("gone.git");

    await assert.rejects(
      client().resolve(url, { branch: "gone" }, { access: accessToGit(url), timeoutMs }),
      { code: "GIT_REFERENCE_NOT_FOUND", message: `${url} has no branch "gone"` },
    );
    await assert.rejects(client().resolve(gone, {}, { access: accessToGit(gone), timeoutMs }), {
      code: "GIT_REPOSITORY_NOT_FOUND",
    });
  });

  test("a commit that is gone after a forced push", async () => {
    const rewritten = await createRepository(root, "rewritten.git");
    const before = await rewritten.commit({ a: "1" });
    await rewritten.commit({ a: "2" }, { amend: true });
    await rewritten.git("-C", rewritten.bareDir, "reflog", "expire", "--expire=now", "--all");
    await rewritten.git("-C", rewritten.bareDir, "gc", "-q", "--prune=now");
    const url = server.url("rewritten.git");
    const request = { access: accessToGit(url), timeoutMs };

    await assert.rejects(client().checkout({ url, commit: before }, newDir(), request), {
      code: "GIT_COMMIT_NOT_FOUND",
    });
  });

  test("more bytes than the limit, from the server and on disk", async () => {
    const noisy = await createRepository(root, "noisy.git");
    const commit = await noisy.commit({
      random: randomText(300_000),
      zeros: "0".repeat(2_000_000),
    });
    const url = server.url("noisy.git");
    const request = { access: accessToGit(url), timeoutMs };

    await assert.rejects(
      client({ limits: { maxReceivedBytes: 100_000 } }).checkout(
        { url, commit },
        newDir(),
        request,
      ),
      {
        code: "GIT_TOO_LARGE",
        message: `cannot fetch commit ${commit} of ${url}: the server sent more than the limit of 100000 bytes`,
      },
    );
    await assert.rejects(
      client({ limits: { maxBytes: 1024 * 1024 } }).checkout({ url, commit }, newDir(), request),
      { code: "GIT_TOO_LARGE", message: `the files of ${url} exceed the limit of 1 MiB` },
    );
    await assert.rejects(
      client({ limits: { maxFiles: 1 } }).checkout({ url, commit }, newDir(), request),
      { code: "GIT_TOO_LARGE" },
    );
  });

  test("a server that is slow, and one that is not there", async () => {
    await using slow = await startGitHttpServer(root, { intercept: () => true });
    const url = slow.url("app.git");
    const closed = "http://127.0.0.1:1/app.git";

    await assert.rejects(client().resolve(url, {}, { access: accessToGit(url), timeoutMs: 300 }), {
      code: "GIT_TIMEOUT",
      message: `${url} did not answer within 0.3 s`,
    });
    await assert.rejects(client().resolve(closed, {}, { access: accessToGit(closed), timeoutMs }), {
      code: "GIT_UNREACHABLE",
      message: `cannot list the references of ${closed}: 127.0.0.1:1: connection refused`,
    });
  });

  test("an address that the egress policy denies", async () => {
    const url = server.url("app.git");

    await assert.rejects(
      client({ egress: {} }).resolve(url, {}, { access: accessToGit(url), timeoutMs }),
      { code: "EGRESS_DENIED" },
    );
  });

  test("a redirect to another host", async () => {
    await using elsewhere = await startGitHttpServer(root, {
      intercept: ({ url }, response) => {
        response.writeHead(302, { location: `${server.origin}${url}` }).end();
        return true;
      },
    });
    const url = elsewhere.url("app.git");
    const before = server.seen.length;

    await assert.rejects(client().resolve(url, {}, { access: accessToGit(url), timeoutMs }), {
      code: "GIT_UNREACHABLE",
      message: new RegExp(`redirects to another host, ${server.origin.slice(7)}`),
    });
    assert.equal(server.seen.length, before);
  });

  describe("what the server says", () => {
    /** A service that is not a Git server. */
    const service = () =>
      startGitHttpServer(root, {
        intercept: (_, response) => {
          response.writeHead(403, { "content-type": "text/plain" }).end("token: hunter2");
          return true;
        },
      });
    const failure = async (url: string, showsResponses: boolean) => {
      const access = { ...accessToGit(url), showsResponses };
      const found = client().resolve(url, {}, { access, timeoutMs });
      return await found.then(
        () => "",
        (error: Error) => error.message,
      );
    };

    test("is left out", async () => {
      await using internal = await service();
      const url = internal.url("admin/secrets");

      assert.equal(
        await failure(url, false),
        `cannot list the references of ${url}: the server denies access (git: fatal: unable to access '${url}/': The requested URL returned error: 403)`,
      );
    });

    test("is quoted where Policies say which repositories there are", async () => {
      await using internal = await service();

      assert.match(await failure(internal.url("admin"), true), /remote: token: hunter2/);
    });
  });

  for (const url of [
    "file:///etc",
    "ext::sh",
    "https://a:hunter2@x/y",
    "git://x/y",
    "http://x/admin?y=",
    "http://x/admin?",
    "http://x/admin#y",
    "ssh://git@x/y?z",
  ])
    test(`the address ${url}`, async () => {
      const access = { origin: "https://x" };
      await assert.rejects(client().resolve(url, {}, { access, timeoutMs }), (error: Error) => {
        assert.doesNotMatch(error.message, /hunter2/);
        return "code" in error && error.code === "GIT_URL_INVALID";
      });
    });
});

function randomText(length: number): string {
  let state = 12_345;
  let text = "";
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text;
}
