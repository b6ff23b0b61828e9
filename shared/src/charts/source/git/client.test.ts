import assert from "node:assert/strict";
import { access as accessFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { issueTestCertificate } from "../testing/index.ts";
import { accessToGit } from "./index.ts";
import { createRepository, readText, serveApp, startGitHttpServer } from "./testing/index.ts";

const timeoutMs = 20_000;
const served = await serveApp();
afterAll(() => served[Symbol.asyncDispose]());
const { root, temporary, server, first, client, newDir } = served;

async function filesIn(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}

describe("a Git repository over HTTP", () => {
  test("is resolved by one listing of its references", async () => {
    const url = server.url("app.git");
    const access = accessToGit(url);
    const before = server.seen.length;

    const branch = await client().resolve(url, { branch: "main" }, { access, timeoutMs });
    const requests = server.seen.slice(before);
    const tag = await client().resolve(url, { semver: "1.x" }, { access, timeoutMs });

    assert.deepEqual(branch, {
      ...{ revision: `main@sha1:${first}`, commit: first },
      ref: "refs/heads/main",
    });
    assert.deepEqual(requests, [
      "GET /app.git/info/refs?service=git-upload-pack",
      "POST /app.git/git-upload-pack",
    ]);
    assert.equal(tag.revision, `v1.0.0@sha1:${first}`);
  });

  test("resolves a commit that is there", async () => {
    const url = server.url("app.git");
    const access = accessToGit(url);
    const request = { access, timeoutMs };

    const found = await client().resolve(url, { commit: first }, request);

    assert.equal(found.revision, `sha1:${first}`);
    await assert.rejects(client().resolve(url, { commit: "a".repeat(40) }, request), {
      code: "GIT_COMMIT_NOT_FOUND",
    });
  });

  test("gives one file of a commit without the others", async () => {
    const url = server.url("app.git");
    const request = { ...readText, access: accessToGit(url), timeoutMs };
    const small = client({ limits: { maxMetadataBytes: 20_000 } });
    const files = ["charts/app/Chart.yaml", "charts/app"].map((path) => ({ path, maxBytes: 1000 }));

    const { contents, present } = await small.readFiles({ url, commit: first, files }, request);

    assert.deepEqual([...present], ["charts/app/Chart.yaml"]);
    assert.deepEqual([...contents], [["charts/app/Chart.yaml", "name: app\nversion: 1.0.0\n"]]);
    const large = [{ path: "docs/big.bin", maxBytes: 1_000_000 }];
    await assert.rejects(small.readFiles({ url, commit: first, files: large }, request), {
      code: "GIT_TOO_LARGE",
      message: /the server sent more than the limit/,
    });
  });

  test("says which files a commit has without fetching any of them", async () => {
    const url = server.url("app.git");
    const request = { ...readText, access: accessToGit(url), timeoutMs };
    const small = client({ limits: { maxMetadataBytes: 20_000 } });
    const paths = ["docs/big.bin", "docs", "docs/none", "./charts//app/Chart.yaml"];

    const { contents, present } = await small.readFiles(
      { url, commit: first, files: paths.map((path) => ({ path })) },
      request,
    );

    assert.deepEqual([...present], ["docs/big.bin", "./charts//app/Chart.yaml"]);
    assert.equal(contents.size, 0);
  });

  test("reads no file that is larger than its limit, nor files that are together", async () => {
    const url = server.url("app.git");
    const reserved: number[] = [];
    const request = {
      ...readText,
      access: accessToGit(url),
      timeoutMs,
      maxTotalBytes: 40,
      reserve: <R>(bytes: number, work: () => Promise<R>): Promise<R> => {
        reserved.push(bytes);
        return work();
      },
    };
    const read = (...files: readonly { readonly path: string; readonly maxBytes: number }[]) =>
      client().readFiles({ url, commit: first, files }, request);
    const app = { path: "charts/app/Chart.yaml", maxBytes: 1000 };

    await assert.rejects(read({ ...app, maxBytes: 10 }), {
      code: "GIT_TOO_LARGE",
      message: /charts\/app\/Chart\.yaml of .* has 25 bytes, more than the limit of 10$/,
    });
    assert.deepEqual(reserved, []);
    await assert.rejects(read(app, { ...app, path: "charts/other/Chart.yaml" }), {
      code: "GIT_TOO_LARGE",
      message: /exceed the limit of/,
    });
    assert.deepEqual(reserved, [25]);
  });

  test("is checked out without what Flux leaves out, and leaves no temporary files", async () => {
    const url = server.url("app.git");
    const dir = newDir();

    await client().checkout({ url, commit: first }, dir, { access: accessToGit(url), timeoutMs });

    assert.deepEqual(await filesIn(dir), [
      "charts/app/Chart.yaml",
      "charts/other/Chart.yaml",
      "docs/big.bin",
    ]);
    assert.deepEqual(await readdir(temporary), []);
  });

  test("is checked out in part, which fetches only that part", async () => {
    const url = server.url("app.git");
    const dir = newDir();
    const tree = { url, commit: first, sparseCheckout: ["charts/app"], ignore: "!*.png" };
    const request = { access: accessToGit(url), timeoutMs };

    await client({ limits: { maxReceivedBytes: 20_000 } }).checkout(tree, dir, request);

    assert.deepEqual(await filesIn(dir), ["charts/app/Chart.yaml", "charts/app/logo.png"]);
    await assert.rejects(
      client().checkout({ ...tree, sparseCheckout: ["gone"] }, newDir(), request),
      { code: "GIT_PATH_NOT_FOUND" },
    );
  });

  test("brings its submodules and includes", async () => {
    const library = await createRepository(root, "library.git");
    const libraryCommit = await library.commit({ "lib/values.yaml": "a: 1\n" });
    const parent = await createRepository(root, "parent.git");
    await parent.commit({
      "Chart.yaml": "name: parent\n",
      ".gitmodules": '[submodule "l"]\n\tpath = vendor/l\n\turl = ../library.git\n',
    });
    await parent.git("update-index", "--add", "--cacheinfo", `160000,${libraryCommit},vendor/l`);
    await parent.git("commit", "-q", "-m", "submodule");
    await parent.git("push", "-q", "origin", "HEAD:refs/heads/main");
    const commit = await parent.git("rev-parse", "HEAD");
    const url = server.url("parent.git");
    const access = accessToGit(url);
    const dir = newDir();

    await client().checkout(
      {
        url,
        commit,
        recurseSubmodules: true,
        include: [
          {
            url: server.url("library.git"),
            commit: libraryCommit,
            fromPath: "lib",
            toPath: "common",
          },
        ],
      },
      dir,
      { access: { ...access, included: [accessToGit(server.url("library.git"))] }, timeoutMs },
    );

    assert.deepEqual(await filesIn(dir), [
      "Chart.yaml",
      "common/values.yaml",
      "vendor/l/lib/values.yaml",
    ]);
    const paths = ["Chart.yaml", "vendor/l", "vendor/l/lib/values.yaml", "vendor/l/none"];
    const read = async (recurseSubmodules: boolean) => {
      const request = { ...readText, access, timeoutMs };
      const files = paths.map((path) => ({ path, maxBytes: 1_000 }));
      const at = { url, commit, recurseSubmodules };
      const { contents } = await client().readFiles({ ...at, files }, request);
      return paths.map((path) => contents.get(path));
    };
    assert.deepEqual(await read(true), ["name: parent\n", undefined, "a: 1\n", undefined]);
    assert.deepEqual(await read(false), ["name: parent\n", undefined, undefined, undefined]);
  });

  test("refuses a link out of the tree where the chart is", async () => {
    const linked = await createRepository(root, "linked.git");
    const commit = await linked.commit({
      "chart/Chart.yaml": "name: x\n",
      "chart/secret.yaml": "link:/etc/passwd",
      "chart/inside.yaml": "link:Chart.yaml",
      "other/x": "link:../../../etc/passwd",
    });
    const url = server.url("linked.git");
    const request = { access: accessToGit(url), timeoutMs };
    const dir = newDir();

    await assert.rejects(client().checkout({ url, commit, path: "chart" }, newDir(), request), {
      code: "GIT_CONTENT_INVALID",
      message: "chart/secret.yaml is a symbolic link out of the repository",
    });
    await client().checkout(
      { url, commit, sparseCheckout: ["other"], path: "chart" },
      dir,
      request,
    );
    assert.deepEqual(await filesIn(dir), []);
  });

  test("ignores attributes, hooks and the configuration of the user", async () => {
    const filtered = await createRepository(root, "filtered.git");
    const commit = await filtered.commit({
      ".gitattributes": "*.txt filter=lfs eol=crlf ident export-ignore\n",
      "a.txt": "line $Id$\n",
    });
    const url = server.url("filtered.git");
    const dir = newDir();

    await client().checkout({ url, commit }, dir, { access: accessToGit(url), timeoutMs });

    assert.equal(await readFile(join(dir, "a.txt"), "utf8"), "line $Id$\n");
  });
});

describe("each failure of a Git repository has one clear error:", () => {
  test("wrong credentials", async () => {
    await using locked = await startGitHttpServer(root, {
      authorization: `Basic ${Buffer.from("user:right").toString("base64")}`,
    });
    const url = locked.url("app.git");
    const right = accessToGit(url, { username: "user", password: "right" });
    const wrong = accessToGit(url, { username: "user", password: "wrong-secret" });

    const found = await client().resolve(url, { branch: "main" }, { access: right, timeoutMs });

    assert.equal(found.commit, first);
    for (const access of [wrong, accessToGit(url)])
      await assert.rejects(
        client().resolve(url, { branch: "main" }, { access, timeoutMs }),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, "GIT_UNAUTHORIZED");
          assert.match(
            error.message,
            /^cannot list the references of http:\/\/127.0.0.1:\d+\/app.git: the server denies access/,
          );
          assert.doesNotMatch(error.message, /wrong-secret/);
          return true;
        },
      );
  });

  test("a bearer token is sent", async () => {
    await using locked = await startGitHttpServer(root, { authorization: "Bearer token-1" });
    const url = locked.url("app.git");
    const access = accessToGit(url, { bearerToken: "token-1" });

    const found = await client().resolve(url, { branch: "main" }, { access, timeoutMs });

    assert.equal(found.commit, first);
  });
});

describe("a Git repository over HTTPS", () => {
  test("is trusted by the authority of the Secret, which gets the client certificate", async () => {
    const certificate = await issueTestCertificate();
    const user = await issueTestCertificate("client");
    await using secure = await startGitHttpServer(root, { certificate, clientCa: user.caPem });
    const url = secure.url("app.git");
    const caPem = certificate.caPem;
    const access = accessToGit(url, { caPem, clientCertificate: user });

    const found = await client().resolve(url, { branch: "main" }, { access, timeoutMs });

    assert.equal(found.commit, first);
    await assert.rejects(
      client().resolve(url, { branch: "main" }, { access: accessToGit(url), timeoutMs }),
      { code: "GIT_UNREACHABLE", message: /the connection by TLS failed/ },
    );
  });
});

test("an aborted request ends git", async () => {
  const abort = new AbortController();
  const { promise: gitEnded, resolve } = Promise.withResolvers<void>();
  await using slow = await startGitHttpServer(root, {
    // Never answered: git waits for the response, and its connection is closed when it ends.
    intercept({ socket }) {
      socket.once("close", resolve);
      abort.abort();
      return true;
    },
  });
  const url = slow.url("app.git");
  const running = client().resolve(
    url,
    {},
    { access: accessToGit(url), timeoutMs, signal: abort.signal },
  );

  await assert.rejects(running, { name: "AbortError" });
  await gitEnded;
  await accessFile(temporary);
});
