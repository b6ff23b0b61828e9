import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { startHttpProxy, startSocksProxy } from "../testing/index.ts";
import { accessToGit, createGitClient } from "./index.ts";
import {
  createRepository,
  type GitHttpServer,
  readText,
  type SshServer,
  startGitHttpServer,
  startSshServer,
} from "./testing/index.ts";

const timeoutMs = 20_000;
let root: string;
let ssh: SshServer;
let http: GitHttpServer;
let old: string;
let commit: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "git-ssh-"));
  ssh = await startSshServer(join(root, ".ssh"), root);
  http = await startGitHttpServer(root);
  const app = await createRepository(root, "app.git");
  old = await app.commit({ "Chart.yaml": "name: app\n", "docs/a.md": "a" });
  commit = await app.commit({ "docs/a.md": "b" });
});

afterAll(async () => {
  await ssh[Symbol.asyncDispose]();
  await http[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const client = () =>
  createGitClient({
    dir: join(root, ".tmp"),
    userAgent: "test",
    egress: { allowLoopback: true },
  });

describe("a Git repository over SSH", () => {
  test("is resolved and checked out with the identity and the host key of the Secret", async () => {
    const url = ssh.url("app.git");
    const { identityPem, knownHosts } = ssh;
    const access = accessToGit(url, { ssh: { identityPem, knownHosts } });
    const dir = join(root, ".out");

    const found = await client().resolve(url, { branch: "main" }, { access, timeoutMs });
    await client().checkout({ url, commit: found.commit }, dir, { access, timeoutMs });

    assert.equal(found.commit, commit);
    assert.equal(await readFile(join(dir, "Chart.yaml"), "utf8"), "name: app\n");
    assert.deepEqual(await readdir(join(root, ".tmp")), []);
  });

  // Without AcceptEnv in the configuration of sshd, git speaks version 0 of its protocol.
  test("gives single files, of an earlier commit too, when the server gives no single objects", async () => {
    const url = ssh.url("app.git");
    const { identityPem, knownHosts } = ssh;
    const access = accessToGit(url, { ssh: { identityPem, knownHosts } });
    const paths = ["Chart.yaml", "docs/a.md", "none"] as const;

    for (const [at, expected] of [
      [commit, "b"],
      [old, "a"],
    ] as const) {
      const request = { ...readText, access, timeoutMs };
      const files = paths.map((path) => ({ path, maxBytes: 1_000 }));
      const { contents } = await client().readFiles({ url, commit: at, files }, request);
      assert.deepEqual(
        paths.map((path) => contents.get(path)),
        ["name: app\n", expected, undefined],
      );
      const dir = join(root, `.sparse-${expected}`);
      await client().checkout({ url, commit: at, sparseCheckout: ["docs"] }, dir, request);
      assert.deepEqual(await readdir(dir), ["docs"]);
      assert.equal(await readFile(join(dir, "docs", "a.md"), "utf8"), expected);
    }
  });

  test("accepts an identity with a passphrase", async () => {
    const url = ssh.url("app.git");
    const { encryptedIdentityPem: identityPem, knownHosts, passphrase } = ssh;
    const right = accessToGit(url, { ssh: { identityPem, knownHosts, passphrase } });
    const wrong = accessToGit(url, { ssh: { identityPem, knownHosts, passphrase: "wrong" } });

    const found = await client().resolve(url, { branch: "main" }, { access: right, timeoutMs });

    assert.equal(found.commit, commit);
    await assert.rejects(client().resolve(url, {}, { access: wrong, timeoutMs }), {
      code: "GIT_UNAUTHORIZED",
    });
  });

  test("is refused when the server has another host key", async () => {
    const url = ssh.url("app.git");
    const knownHosts = `[127.0.0.1]:${ssh.port} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ${"A".repeat(42)}\n`;
    const access = accessToGit(url, { ssh: { identityPem: ssh.identityPem, knownHosts } });

    await assert.rejects(client().resolve(url, {}, { access, timeoutMs }), {
      code: "GIT_HOST_KEY",
      message: /the host key of the server is not in known_hosts of the Secret/,
    });
  });

  test("is refused with a key that the server does not know", async () => {
    const url = ssh.url("app.git");
    const { knownHosts } = ssh;
    const identityPem = await readFile(join(root, ".ssh", "host"), "utf8");
    const access = accessToGit(url, { ssh: { identityPem, knownHosts } });

    await assert.rejects(client().resolve(url, {}, { access, timeoutMs }), {
      code: "GIT_UNAUTHORIZED",
    });
    await assert.rejects(client().resolve(url, {}, { access: accessToGit(url), timeoutMs }), {
      code: "GIT_SECRET_INVALID",
    });
  });
});

describe("a Git repository through a proxy of its own", () => {
  const user = { username: "someone", password: "proxy-password" };

  for (const [kind, start] of [
    ["http", startHttpProxy],
    ["socks5", startSocksProxy],
  ] as const)
    test(`with ${kind} is reached over HTTP and SSH`, async () => {
      await using proxy = await start(user);
      const { identityPem, knownHosts } = ssh;
      const settings = { proxy: { address: `${kind}://${proxy.host}`, ...user } };

      for (const url of [http.url("app.git"), ssh.url("app.git")]) {
        const access = accessToGit(url, { ...settings, ssh: { identityPem, knownHosts } });
        const found = await client().resolve(url, { branch: "main" }, { access, timeoutMs });
        assert.equal(found.commit, commit);
      }
      assert.ok(proxy.passed.length >= 2, proxy.passed.join());
      const wrong = { ...settings.proxy, password: "wrong-password" };
      const url = http.url("app.git");
      await assert.rejects(
        client().resolve(url, {}, { access: accessToGit(url, { proxy: wrong }), timeoutMs }),
        (error: Error & { code?: string }) =>
          error.code === "GIT_UNREACHABLE" &&
          error.message.includes("proxy") &&
          !error.message.includes("wrong-password"),
      );
    });
});
