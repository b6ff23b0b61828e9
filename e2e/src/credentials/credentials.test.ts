/** Credentials reach the hub and the agent and nothing else: with real repositories, rotated, withdrawn, searched for. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startReaper } from "@flotilla/local/process";
import { runHelm, startRegistry } from "@flotilla/local/registries";
import { testDir } from "@flotilla/local/testing";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { agentNamespace, workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { type Login, startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { type ChartArchive, configChart } from "../harness/chart-archive.ts";
import { startTestFleet, type TestCluster } from "../harness/fleet.ts";
import { releaseRecords } from "../harness/releases.ts";
import { messageOf, waitForObject, waitUntilGone } from "../harness/wait.ts";
import { containsAny, metricsOf, objectsContaining, watchArguments } from "./find-secrets.ts";

const passwords = ["secret-one", "secret-two", "secret-three", "secret-four"].map(
  (text) => `${text}-${process.pid}-correct-horse`,
);
const [one = "", two = "", three = "", four = ""] = passwords;
/** Also as they are encoded in requests. */
const texts = [
  ...passwords,
  ...passwords.map((password) => Buffer.from(`me:${password}`).toString("base64")),
];
const login = (password: string): Login => ({ username: "me", password });

/** An argument that the search must find. */
const expectedArgument = "--replica=hub-0";
const argumentsSeen = watchArguments([...texts, expectedArgument]);
const fleet = await startTestFleet({ clusters: [{ env: "prod" }, { env: "dev" }] });
afterAll(() => fleet.close());
const { workspace } = fleet;
const [prod, dev] = fleet.clusters;
assert.ok(prod !== undefined && dev !== undefined);
const { client: inProd } = prod;

const certificate = await issueTestCertificate();
const charts = await startAuthenticatedCharts(login(one), certificate);
afterAll(() => charts[Symbol.asyncDispose]());
charts.publish(await configChart("protected", "1.0.0"));

const publisher = { username: "publisher", password: "not searched for" };
const binaries = await ensureBinaries(["registry"]);
const reaper = startReaper();
const registryDir = join(await testDir({ onTestFinished: afterAll }), "registry");
const runRegistry = (puller: Login) =>
  startRegistry({
    dir: registryDir,
    binary: binaries.registry,
    users: [publisher, puller],
    tls: true,
    reaper,
  });
let registry = await runRegistry(login(three));
afterAll(async () => {
  await registry.stop();
  await reaper.release();
});
const caFile = registry.ca?.file ?? assert.fail("the registry has no certificate");

async function push(archive: ChartArchive): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "flotilla-push-"));
  try {
    const file = join(home, `${archive.name}-${archive.version}.tgz`);
    await writeFile(file, archive.bytes);
    const credentials = { host: registry.host, ...publisher };
    const args = ["push", file, `${registry.oci}/charts`, "--ca-file", caFile];
    await runHelm(args, { helm: fleet.helm, home, credentials });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function encoded(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

async function createSecret(
  name: string,
  data: Readonly<Record<string, string>>,
  type = "Opaque",
): Promise<void> {
  const metadata = { namespace, name };
  await fleet.hub.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata,
    type,
    data: encoded(data),
  });
}

async function patchSecret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
  const body = { data: encoded(data) };
  await fleet.hub.patch(secrets, { namespace, name }, { type: "merge", body });
}

const dockerConfig = (password: string) => ({
  ".dockerconfigjson": JSON.stringify({
    auths: {
      [registry.host]: { auth: Buffer.from(`me:${password}`).toString("base64") },
      "elsewhere.example.com": { username: "other", password: "other" },
    },
  }),
});

/** For the cluster `prod`. */
async function createHelmOp(name: string, spec: HelmOp["spec"]): Promise<void> {
  const targets = [{ clusterSelector: { matchLabels: { env: "prod" } } }];
  await workspace.createHelmOp(name, { targets, ...spec });
}

/** The Secret in which an agent stores a Secret of the hub. */
const storedRef = (name: string) => ({
  namespace: agentNamespace,
  name: `referenced-secret-${name}`,
});

interface Stored {
  /** Whether the hub has reported that it does not have the Secret. */
  readonly gone: boolean;
  readonly digest: string;
}

function storedOf({ metadata }: Secret): Stored {
  const { "flotilla.dev/gone": gone, "flotilla.dev/digest": digest = "" } =
    metadata.annotations ?? {};
  return { gone: gone === "true", digest };
}

/** For the agent of `prod`. */
async function waitForStored(
  name: string,
  what: string,
  isDesired: (stored: Stored) => boolean,
): Promise<Stored> {
  return storedOf(
    await waitForObject(inProd, secrets, storedRef(name), what, (secret) =>
      isDesired(storedOf(secret)),
    ),
  );
}

const waitUntilRemoved = (name: string) => waitUntilGone(inProd, secrets, storedRef(name));

/** The revisions of a release in `prod`. */
async function revisions(release: string): Promise<readonly number[]> {
  return (await releaseRecords(inProd, release)).map(({ revision }) => revision);
}

/** The Secrets of the hub that an agent stores. */
async function storedIn({ client }: TestCluster): Promise<readonly string[]> {
  const labelSelector = "flotilla.dev/referenced-object=true";
  const items = await client.reader.list(secrets, { namespace: agentNamespace, labelSelector });
  return items.map(({ metadata }) => metadata.name);
}

const isNotAccepted = (message: RegExp) => (helmOp: HelmOp) => {
  const accepted = findCondition(helmOp.status?.conditions, "Accepted");
  return accepted?.status === "False" && message.test(accepted.message ?? "");
};

test("rancher/fleet#3589: a private authority in the Secret is trusted by hub and agent; an incomplete Secret is reported, and a corrected one used at once", async () => {
  await createHelmOp("protected", {
    helm: { repo: charts.origin, chart: "protected", version: "1.x" },
    helmSecretName: "login",
    pollingInterval: "1s",
  });
  await workspace.waitForHelmOp(
    "protected",
    "reporting the missing Secret",
    isNotAccepted(
      /^could not read Helm auth from secret: there is no Secret fleet-default\/login; retrying as soon as it is created$/,
    ),
  );
  assert.deepEqual(charts.seen, []);

  await createSecret("login", { username: "me" });
  await workspace.waitForHelmOp(
    "protected",
    "reporting the incomplete Secret",
    isNotAccepted(
      /^could not read Helm auth from secret: .*username is set in the secret, but password isn't$/,
    ),
  );

  await patchSecret("login", { password: one });
  await workspace.waitForHelmOp(
    "protected",
    "reporting the untrusted authority",
    isNotAccepted(/x509: certificate signed by unknown authority/),
  );

  await patchSecret("login", { cacerts: certificate.caPem });
  await workspace.waitUntilReady("protected", "1.0.0", 1);
  assert.deepEqual(await storedIn(prod), ["referenced-secret-login"]);
});

test("rancher/fleet#3658: the Secret reaches the agent; a rotated password reaches it, deploys nothing, and fetches the next version", async () => {
  const { digest: before } = await waitForStored("login", "stored", () => true);

  charts.allowOnly(login(two));
  await patchSecret("login", { password: two });
  await waitForStored("login", "rotated", ({ digest }) => digest !== before);
  charts.publish(await configChart("protected", "1.1.0"));
  await workspace.waitUntilReady("protected", "1.1.0", 1);

  assert.deepEqual(await revisions("protected"), [1, 2]);
  assert.deepEqual(
    [charts.requestsBy(login(one)), charts.requestsBy(login(two))].map((paths) =>
      paths.filter((path) => path.endsWith(".tgz")),
    ),
    [["/protected-1.0.0.tgz"], ["/protected-1.1.0.tgz"]],
  );
});

test("rancher/fleet#3872: insecureSkipVerify of the Secret disables certificate verification, on the hub and at the agent", async () => {
  const insecure = { username: "me", password: two, insecureSkipVerify: "true" };
  await createSecret("insecure", insecure);
  await createHelmOp("insecure", {
    helm: { repo: charts.origin, chart: "protected", version: "1.0.0" },
    helmSecretName: "insecure",
  });

  await workspace.waitUntilReady("insecure", "1.0.0", 1);

  await fleet.hub.delete(helmOps, { namespace, name: "insecure" });
  await waitUntilRemoved("insecure");
  await fleet.hub.delete(secrets, { namespace, name: "insecure" });
});

test("rancher/fleet#3845: Rancher's authorities are trusted on the hub and at the agent where the Secret names none", async () => {
  await createSecret("no-authority", { username: "me", password: two });
  await createHelmOp("trusting", {
    helm: { repo: charts.origin, chart: "protected", version: "1.0.0" },
    helmSecretName: "no-authority",
  });
  const untrusted = /x509: certificate signed by unknown authority/;
  await workspace.waitForHelmOp(
    "trusting",
    "reporting the untrusted authority",
    isNotAccepted(untrusted),
  );

  await fleet.hub.create(namespaces, { metadata: { name: "cattle-system" } });
  const metadata = { namespace: "cattle-system", name: "tls-ca" };
  await fleet.hub.create(secrets, {
    metadata,
    data: encoded({ "cacerts.pem": certificate.caPem }),
  });
  await workspace.waitUntilReady("trusting", "1.0.0", 1);

  await fleet.hub.delete(secrets, metadata);
  await fleet.hub.delete(helmOps, { namespace, name: "trusting" });
  await waitUntilRemoved("no-authority");
  await fleet.hub.delete(secrets, { namespace, name: "no-authority" });
});

test("rancher/fleet#2988: a Docker configuration authenticates at a registry with TLS, also after its password is rotated on both sides", async () => {
  await push(await configChart("packed", "1.0.0"));
  const ca = await readFile(caFile, "utf8");
  await createSecret(
    "docker",
    { ...dockerConfig(three), "ca.crt": ca },
    "kubernetes.io/dockerconfigjson",
  );
  await createHelmOp("packed", {
    helm: { repo: `${registry.oci}/charts/packed`, version: "1.x" },
    helmSecretName: "docker",
    pollingInterval: "1s",
  });
  await workspace.waitUntilReady("packed", "1.0.0", 1);
  const { digest: before } = await waitForStored("docker", "stored", () => true);

  await registry.stop();
  registry = await runRegistry(login(four));
  await push(await configChart("packed", "1.1.0"));
  await workspace.waitForHelmOp("packed", "rejected", ({ status }) =>
    /401 Unauthorized/.test(findCondition(status?.conditions, "Polled")?.message ?? ""),
  );
  assert.deepEqual(await revisions("packed"), [1]);
  await patchSecret("docker", dockerConfig(four));
  await waitForStored("docker", "rotated", ({ digest }) => digest !== before);
  await workspace.waitUntilReady("packed", "1.1.0", 1);

  assert.deepEqual(await revisions("packed"), [1, 2]);
});

test("a deleted Secret is reported, and what was installed with it stays", async () => {
  await fleet.hub.delete(secrets, { namespace, name: "docker" });
  await waitForStored("docker", "marked as gone", ({ gone }) => gone);
  const deployment = await workspace.waitForBundleDeployment(
    prod.name,
    "packed",
    "reporting the missing Secret",
    (found) =>
      /does not have the Secret docker any more; what was installed with it stays/.test(
        messageOf(found, "Ready"),
      ),
  );
  const helmOp = await workspace.waitForHelmOp(
    "packed",
    "reporting the missing Secret",
    isNotAccepted(/there is no Secret fleet-default\/docker/),
  );

  assert.equal(findCondition(deployment.status?.conditions, "Ready")?.status, "True");
  assert.equal(findCondition(helmOp.status?.conditions, "Ready")?.status, "True");
  assert.deepEqual(await revisions("packed"), [1, 2]);

  const ca = await readFile(caFile, "utf8");
  await createSecret(
    "docker",
    { ...dockerConfig(four), "ca.crt": ca },
    "kubernetes.io/dockerconfigjson",
  );
  await waitForStored("docker", "back", ({ gone }) => !gone);
  await workspace.waitForHelmOp(
    "packed",
    "accepted again",
    ({ status }) => findCondition(status?.conditions, "Accepted")?.status === "True",
  );
});

test("passwords are in the Secrets of hub and agent, and nowhere else", async () => {
  const processes = [fleet.hubProcess(), ...fleet.clusters.map((cluster) => cluster.agent())].map(
    ({ identity }) => identity.pid,
  );

  assert.deepEqual(await objectsContaining(fleet.hub, texts), [
    "Secret fleet-default/docker",
    "Secret fleet-default/login",
  ]);
  assert.deepEqual(await objectsContaining(inProd, texts), [
    "Secret flotilla-agent/referenced-secret-docker",
    "Secret flotilla-agent/referenced-secret-login",
  ]);
  assert.deepEqual(await objectsContaining(dev.client, texts), []);
  assert.deepEqual(await storedIn(dev), []);
  for (const file of [fleet.hubLog, prod.agentLog, dev.agentLog]) {
    const text = await readFile(file, "utf8");
    assert.ok(text.length > 0);
    assert.equal(containsAny(text, texts), false, file);
  }
  for (const pid of processes) {
    const text = await metricsOf(pid);
    assert.match(text, /process_cpu_seconds_total/);
    assert.equal(containsAny(text, texts), false);
  }
});

test("a Secret is removed from the agent with the last HelmOp that references it", async () => {
  await createHelmOp("second", {
    helm: { repo: charts.origin, chart: "protected", version: "1.0.0" },
    helmSecretName: "login",
  });
  await workspace.waitUntilReady("second", "1.0.0", 1);

  for (const name of ["protected", "packed"]) await fleet.hub.delete(helmOps, { namespace, name });
  await waitUntilRemoved("docker");
  assert.deepEqual(await storedIn(prod), ["referenced-secret-login"]);
  await fleet.hub.delete(helmOps, { namespace, name: "second" });
  await waitUntilRemoved("login");

  assert.deepEqual(await objectsContaining(inProd, texts), []);
  const lines = argumentsSeen.stop();
  assert.ok(lines.some((line) => line.includes(expectedArgument)));
  assert.equal(containsAny(lines, texts), false);
});
