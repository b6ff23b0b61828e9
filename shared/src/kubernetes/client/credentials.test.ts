import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "vitest";
import { createFakeClock } from "../../runtime/time/testing/index.ts";
import { type CredentialSource, createCredentialSource } from "./credentials.ts";
import type { ExecPlugin, KubeCredentials } from "./kubeconfig.ts";

const clock = createFakeClock();

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "credentials-"));
  t.onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

function sourceOf(credentials: KubeCredentials): CredentialSource {
  return createCredentialSource({ server: "https://example.test", credentials }, clock);
}

async function authorization(source: CredentialSource): Promise<string | undefined> {
  return (await source.current()).headers["authorization"];
}

describe("credentials", () => {
  it("that never change are available synchronously", () => {
    const source = sourceOf({ kind: "basic", username: "me", password: "päss" });

    assert.deepEqual(source.current(), {
      headers: { authorization: `Basic ${Buffer.from("me:päss").toString("base64")}` },
      certificate: undefined,
    });
  });

  it("in a file are read again, and at once after they were rejected", async (t) => {
    const path = join(await directory(t), "token");
    await writeFile(path, "one\n");
    const source = sourceOf({ kind: "token-file", path });

    assert.equal(await authorization(source), "Bearer one");
    await writeFile(path, "two");
    assert.equal(await authorization(source), "Bearer one");
    clock.advanceNow(10_000);
    assert.equal(await authorization(source), "Bearer two");
    await writeFile(path, "three");
    assert.equal(source.rejected(await source.current()), true);
    assert.equal(await authorization(source), "Bearer three");
  });

  it("in a file that were rejected and have not changed are not sent again", async (t) => {
    const path = join(await directory(t), "token");
    await writeFile(path, "one");
    const source = sourceOf({ kind: "token-file", path });

    assert.equal(source.rejected(await source.current()), true);
    assert.equal(source.rejected(await source.current()), false);
  });

  it("stay in use when their file is missing for a moment", async (t) => {
    const path = join(await directory(t), "token");
    await writeFile(path, "one");
    const source = sourceOf({ kind: "token-file", path });
    await source.current();
    await rm(path);
    clock.advanceNow(10_000);

    assert.equal(await authorization(source), "Bearer one");
    await assert.rejects(async () => await sourceOf({ kind: "token-file", path }).current(), {
      code: "KUBE_CREDENTIALS",
      message: /^read token file .*: ENOENT/,
    });
  });
});

describe("a credential plugin", () => {
  /** A plugin that runs this script, which gets the count of its runs in $RUN. */
  async function plugin(t: TestContext, script: string): Promise<ExecPlugin> {
    const path = await directory(t);
    const count = `echo x >> runs; RUN=$(wc -l < runs | tr -d ' ')`;
    await writeFile(join(path, "login"), `#!/bin/sh\ncd "${path}"\n${count}\n${script}\n`, {
      mode: 0o700,
    });
    return {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "./login",
      args: [],
      env: { PATH: "/usr/bin:/bin" },
      provideClusterInfo: true,
      directory: path,
      installHint: "install it",
    };
  }

  function credential(status: string): string {
    return `printf '{"kind":"ExecCredential","status":%s}' "${status.replaceAll('"', '\\"')}"`;
  }

  it("runs once until its credential expires", async (t) => {
    const ends = new Date(clock.now() + 60_000).toISOString();
    const exec = await plugin(
      t,
      credential(`{"token":"run-$RUN","expirationTimestamp":"${ends}"}`),
    );
    const source = sourceOf({ kind: "exec", exec });

    const both = await Promise.all([authorization(source), authorization(source)]);
    clock.advanceNow(49_000);
    assert.deepEqual(
      [...both, await authorization(source)],
      ["Bearer run-1", "Bearer run-1", "Bearer run-1"],
    );
    clock.advanceNow(1_000);
    assert.equal(await authorization(source), "Bearer run-2");
  });

  it("runs again when its credential is rejected", async (t) => {
    const exec = await plugin(t, credential(`{"token":"run-$RUN"}`));
    const source = sourceOf({ kind: "exec", exec });

    const first = await source.current();
    assert.equal(source.rejected(first), true);
    assert.equal(await authorization(source), "Bearer run-2");
  });

  it("can return a client certificate, and gets the cluster in its environment", async (t) => {
    const status = `{"clientCertificateData":"CERT","clientKeyData":"KEY"}`;
    const exec = await plugin(
      t,
      `echo "$KUBERNETES_EXEC_INFO" | grep -q '"server":"https://example.test"' || exit 3\n${credential(status)}`,
    );

    const { certificate, headers } = await sourceOf({ kind: "exec", exec }).current();

    assert.deepEqual(certificate, { certificate: "CERT", key: "KEY" });
    assert.deepEqual(headers, {});
  });

  for (const { name, script, message } of [
    {
      name: "fails",
      script: "echo no luck >&2; exit 4",
      message: /^get credentials from \.\/login: exited with code 4: no luck$/,
    },
    { name: "prints no JSON", script: "echo hunter2", message: /: it did not print JSON$/ },
    {
      name: "prints no credential",
      script: `echo '{"status":{"clientKeyData":"hunter2"}}'`,
      message: /: it printed neither status.token nor/,
    },
  ]) {
    it(`that ${name} is reported, without its output`, async (t) => {
      const exec = await plugin(t, script);

      await assert.rejects(async () => await sourceOf({ kind: "exec", exec }).current(), {
        code: "KUBE_CREDENTIALS",
        message,
      });
    });
  }

  it("that is missing is reported with its install hint", async (t) => {
    const exec = { ...(await plugin(t, "")), command: "./missing" };

    await assert.rejects(async () => await sourceOf({ kind: "exec", exec }).current(), {
      message: /ENOENT; install it$/,
    });
  });
});
