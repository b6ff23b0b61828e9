/** HelmReleases from Git servers that want a bearer token, a client certificate or a token of a GitHub App. All tests share a fleet. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { testDir } from "@flotilla/local/testing";
import type { GitRepositorySpec } from "@flotilla/shared/flux";
import {
  createRepository,
  type GitHttpServerOptions,
  startGitHttpServer,
} from "@flotilla/shared/source/git/testing";
import { issueTestCertificate, send, startTestServer } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { installedConfig } from "../harness/releases.ts";
import { chartFiles, gitChart, startGitFleet } from "./git-fleet.ts";

const releases = await startGitFleet();
const { fleet, local } = releases;
const namespace = "apps";
await releases.createGitNamespace(namespace);
const root = await testDir({ onTestFinished: afterAll });

/** Serves a chart as `NAME.git` with what the server wants, and deploys it with what the Secret of this name has. */
async function deploy(
  name: string,
  wanted: GitHttpServerOptions,
  secret: Readonly<Record<string, string>>,
  spec: Partial<GitRepositorySpec> = {},
) {
  const repository = await createRepository(root, `${name}.git`);
  await repository.commit(chartFiles("app", "1.0.0"));
  const server = await startGitHttpServer(root, wanted);
  afterAll(() => server[Symbol.asyncDispose]());
  const ref = { namespace, name };
  await releases.createSecret(ref, secret);
  await releases.createGit(ref, { url: server.url(`${name}.git`), secretRef: { name }, ...spec });
  await releases.create(ref, gitChart(name, "app"));

  await releases.ready(ref, "1.0.0");

  assert.ok((await installedConfig(local.client, name, namespace)) !== undefined);
  return server;
}

/** What hub and agents have logged. */
async function logged(): Promise<string> {
  const files = [fleet.hubLog, ...fleet.clusters.map(({ agentLog }) => agentLog)];
  return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n");
}

test("a GitRepository whose Secret has bearerToken is fetched with it, and no log has it", async () => {
  const token = "bearer-token-of-the-team";

  await deploy("bearer", { authorization: `Bearer ${token}` }, { bearerToken: token });

  assert.ok(!(await logged()).includes(token));
});

test("a GitRepository whose Secret has tls.crt, tls.key and ca.crt is fetched with this certificate", async () => {
  const [server, client] = await Promise.all([
    issueTestCertificate(),
    issueTestCertificate("client"),
  ]);

  await deploy(
    "mutual-tls",
    { certificate: server, clientCa: client.caPem },
    { "tls.crt": client.certPem, "tls.key": client.keyPem, "ca.crt": server.caPem },
  );
});

test("a GitRepository with provider github is fetched with tokens of its GitHub App, by agents without the key of the App", async () => {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const token = "token-of-the-installation";
  const github = await startTestServer(({ method, path }, response) => {
    const isMint = `${method} ${path}` === "POST /app/installations/77/access_tokens";
    const expires = new Date(Date.now() + 60 * 60_000).toISOString();
    return isMint
      ? send(response, 201, JSON.stringify({ token, expires_at: expires }))
      : send(response, 404, "{}");
  });
  afterAll(() => github[Symbol.asyncDispose]());
  const authorization = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;

  await deploy(
    "github-app",
    { authorization },
    {
      githubAppID: "12",
      githubAppInstallationID: "77",
      githubAppPrivateKey: privateKey,
      githubAppBaseURL: github.origin,
    },
    { provider: "github" },
  );

  const text = await logged();
  assert.ok(!text.includes(token) && !text.includes("RSA PRIVATE KEY"));
});
