import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "vitest";
import { loadKubeconfig } from "./load-kubeconfig.ts";

const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  t.onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

interface Parts {
  readonly cluster?: string;
  readonly user?: string;
  readonly context?: string;
}

/** A kubeconfig with one context `one`, whose parts are YAML flow mappings. */
function kubeconfig({ cluster = "", user = "", context = "" }: Parts): string {
  return `
apiVersion: v1
kind: Config
current-context: one
contexts:
- name: one
  context: {cluster: c, user: u, ${context}}
- name: anonymous
  context: {cluster: c}
clusters:
- name: c
  cluster: {server: "https://example.test:6443/", ${cluster}}
users:
- name: u
  user: {${user}}
`;
}

async function load(t: TestContext, parts: Parts, options: { readonly context?: string } = {}) {
  const path = join(await directory(t), "config");
  await writeFile(path, kubeconfig(parts));
  return loadKubeconfig({ path, env: { HOME: "/home/me" }, ...options });
}

describe("a kubeconfig", () => {
  it("has the current context", async (t) => {
    const config = await load(t, { context: "namespace: mine", user: "token: secret" });

    assert.deepEqual(config, {
      server: "https://example.test:6443",
      credentials: { kind: "token", token: "secret" },
      context: "one",
      namespace: "mine",
    });
  });

  it("has the requested context", async (t) => {
    const config = await load(t, { user: "token: secret" }, { context: "anonymous" });

    assert.equal(config.context, "anonymous");
    assert.deepEqual(config.credentials, { kind: "none" });
  });

  it("may be several files: the first one that has an entry counts, and missing files are ignored", async (t) => {
    const path = await directory(t);
    const [first, second] = [join(path, "first"), join(path, "second")];
    await writeFile(first, "current-context: anonymous\nusers: []\n");
    await writeFile(second, kubeconfig({ user: "token: secret" }));
    const paths = [join(path, "missing"), first, second];

    const config = await loadKubeconfig({ path: paths });
    const requested = await loadKubeconfig({ path: paths, context: "one" });

    assert.equal(config.context, "anonymous");
    assert.deepEqual(requested.credentials, { kind: "token", token: "secret" });
    await assert.rejects(loadKubeconfig({ path: [join(path, "missing")] }), {
      message: /^read kubeconfig \S+missing: /,
    });
  });

  it("has files relative to itself, and inline data", async (t) => {
    const path = await directory(t);
    await mkdir(join(path, "pki"));
    await writeFile(join(path, "pki", "ca.crt"), pem);
    const data = Buffer.from(pem).toString("base64");
    const user = `client-certificate-data: ${data}, client-key-data: ${data}, tokenFile: pki/token`;
    await writeFile(
      join(path, "config"),
      kubeconfig({ cluster: "certificate-authority: pki/ca.crt", user }),
    );

    const config = await loadKubeconfig({ path: join(path, "config") });

    assert.equal(config.caData, pem);
    assert.deepEqual(config.clientCertificate, { certificate: pem, key: pem });
    assert.deepEqual(config.credentials, { kind: "token-file", path: join(path, "pki", "token") });
  });

  it("has the other options of a connection", async (t) => {
    const config = await load(t, {
      cluster:
        'insecure-skip-tls-verify: true, tls-server-name: other.test, proxy-url: "http://proxy.test:3128"',
      user: "username: me, password: secret, as: you, as-uid: '7', as-groups: [a, b]",
    });

    assert.equal(config.insecureSkipTlsVerify, true);
    assert.equal(config.tlsServerName, "other.test");
    assert.equal(config.proxyUrl, "http://proxy.test:3128");
    assert.deepEqual(config.credentials, { kind: "basic", username: "me", password: "secret" });
    assert.deepEqual(config.impersonate, { user: "you", uid: "7", groups: ["a", "b"] });
  });

  it("has a credential plugin, with its environment", async (t) => {
    const exec =
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [--now], env: [{name: A, value: b}], provideClusterInfo: true, installHint: get it}";
    const { credentials } = await load(t, { user: exec });

    assert.equal(credentials.kind, "exec");
    const { directory: where, ...plugin } = credentials.exec;
    assert.notEqual(where, "");
    assert.deepEqual(plugin, {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "./login",
      args: ["--now"],
      env: { HOME: "/home/me", A: "b" },
      provideClusterInfo: true,
      installHint: "get it",
    });
  });

  for (const { name, parts, context, message } of [
    {
      name: "a context that does not exist",
      parts: {},
      context: "two",
      message: /contexts: there is no context "two"/,
    },
    {
      name: "a server that is not a URL",
      parts: { cluster: 'server: "nope"' },
      message: /clusters\[c\].cluster: server: it is not a URL/,
    },
    {
      name: "another protocol",
      parts: { cluster: 'server: "ftp://x"' },
      message: /server: it is neither https nor http/,
    },
    {
      name: "data that is not PEM",
      parts: { cluster: "certificate-authority-data: AAAA" },
      message: /certificate-authority-data: it is not PEM in base64/,
    },
    {
      name: "a file that does not exist",
      parts: { cluster: "certificate-authority: nope.crt" },
      message: /certificate-authority: read .*nope.crt: ENOENT/,
    },
    {
      name: "a certificate without its key",
      parts: { user: `client-certificate-data: ${Buffer.from(pem).toString("base64")}` },
      message: /users\[u\].user: client-key: it is missing/,
    },
    {
      name: "a token that is a number",
      parts: { user: "token: 12" },
      message: /users\[u\].user: token: it is not a string/,
    },
    {
      name: "a plugin without a command",
      parts: { user: "exec: {apiVersion: v1}" },
      message: /users\[u\].user.exec: command: it is not set/,
    },
    {
      name: "an interactive plugin",
      parts: { user: "exec: {apiVersion: v1, command: x, interactiveMode: Always}" },
      message: /interactiveMode: .*without a terminal/,
    },
    {
      name: "a legacy auth provider",
      parts: { user: "auth-provider: {name: gcp}" },
      message: /auth-provider: .*use an exec plugin/,
    },
    {
      name: "contradictory fields",
      parts: {
        cluster: `insecure-skip-tls-verify: true, certificate-authority-data: ${Buffer.from(pem).toString("base64")}`,
      },
      message: /insecure-skip-tls-verify: it contradicts certificate-authority/,
    },
  ]) {
    it(`with ${name} is rejected with file and field`, async (t) => {
      await assert.rejects(
        load(t, parts, context === undefined ? {} : { context }),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, "KUBECONFIG_INVALID");
          assert.match(error.message, /^kubeconfig .*\/config: /);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it("that is not YAML is rejected with a message that does not quote it", async (t) => {
    const path = join(await directory(t), "config");
    await writeFile(path, 'users:\n- {token: "hunter2\n');

    await assert.rejects(loadKubeconfig({ path }), (error: Error) => {
      assert.match(error.message, /^read kubeconfig .*: it is not YAML: .* in line \d+$/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  });

  it("that does not exist, or is not a mapping, is rejected", async (t) => {
    const path = join(await directory(t), "config");

    await assert.rejects(loadKubeconfig({ path }), {
      code: "KUBECONFIG_INVALID",
      message: /^read kubeconfig .*: ENOENT/,
    });
    await writeFile(path, "just text");
    await assert.rejects(loadKubeconfig({ path }), { message: /it is not a mapping$/ });
  });
});

describe("a pod", () => {
  it("finds its API server by its service account", async (t) => {
    const path = await directory(t);
    await writeFile(join(path, "token"), "secret");
    await writeFile(join(path, "ca.crt"), pem);
    await writeFile(join(path, "namespace"), "mine\n");

    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    const config = await loadKubeconfig({ serviceAccountDir: path, env });

    assert.deepEqual(config, {
      server: "https://[fd00::1]:6443",
      caData: pem,
      credentials: { kind: "token-file", path: join(path, "token") },
      namespace: "mine",
    });
    assert.equal(
      (await loadKubeconfig({ serviceAccountDir: path })).server,
      "https://kubernetes.default.svc",
    );
  });

  it("without a kubeconfig and a service account fails with what is missing", async (t) => {
    const path = await directory(t);

    await assert.rejects(loadKubeconfig({ serviceAccountDir: join(path, "nothing") }), {
      code: "KUBECONFIG_INVALID",
      message: /^load kubeconfig: no file is given, and no service account is mounted in /,
    });
  });
});
