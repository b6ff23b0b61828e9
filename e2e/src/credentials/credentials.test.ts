/** Credentials from the hub to the agent and no further: real repositories with passwords, rotated, withdrawn, searched for. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startReaper } from "@flotilla/local/process";
import { runHelm, startRegistry } from "@flotilla/local/registries";
import { testDir } from "@flotilla/local/testing";
import { apiVersion, bundleDeployments, type HelmOp, helmOps } from "@flotilla/shared/api";
import {
  agentNamespace,
  clusterNamespaceName,
  workspaceNamespace as namespace,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { type Login, startGuardedCharts } from "../harness/authenticated-charts.ts";
import { type ChartArchive, configChart } from "../harness/chart-archive.ts";
import { startTestFleet } from "../harness/fleet.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";
import { holds, metricsOf, objectsWith, watchArguments } from "./find-secrets.ts";

const planted = ["planted-one", "planted-two", "planted-three", "planted-four"].map(
  (text) => `${text}-${process.pid}-correct-horse`,
);
const [one = "", two = "", three = "", four = ""] = planted;
/** Also as they are sent. */
const texts = [
  ...planted,
  ...planted.map((password) => Buffer.from(`me:${password}`).toString("base64")),
];
const login = (password: string): Login => ({ username: "me", password });

/** Shows that processes were looked at. */
const sought = "--replica=hub-0";
const argumentsSeen = watchArguments([...texts, sought]);
const fleet = await startTestFleet({ clusters: [{ env: "prod" }, { env: "dev" }] });
afterAll(() => fleet.close());
const [prod, dev] = fleet.clusters;
assert.ok(prod !== undefined && dev !== undefined);
const { rest: ofProd } = prod;

const certificate = await issueTestCertificate();
const charts = await startGuardedCharts(login(one), certificate);
afterAll(() => charts[Symbol.asyncDispose]());
charts.publish(await configChart("guarded", "1.0.0"));

const publisher = { username: "publisher", password: "not looked for" };
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

async function createHelmOp(name: string, spec: HelmOp["spec"]): Promise<void> {
  await fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace, name },
    spec: {
      namespace: name,
      targets: [{ clusterSelector: { matchLabels: { env: "prod" } } }],
      ...spec,
    },
  });
}

/** What the agent of a cluster was supplied with; resolves once it `isWanted`. */
function supplyOf(
  rest: KubeRest,
  name: string,
  what: string,
  isWanted: (found: boolean, gone: boolean, digest: string) => boolean,
) {
  const ref = { namespace: agentNamespace, name: `referenced-secret-${name}` };
  return objectThat(rest, secrets, ref, what, (found) => {
    const { "flotilla.dev/gone": gone, "flotilla.dev/digest": digest = "" } =
      found?.metadata.annotations ?? {};
    return isWanted(found !== undefined, gone === "true", digest);
  });
}

const digestOf = async (name: string): Promise<string> =>
  (await supplyOf(ofProd, name, "there", (found) => found))?.metadata.annotations?.[
    "flotilla.dev/digest"
  ] ?? "";

async function revisions(release: string): Promise<readonly string[]> {
  const labelSelector = `owner=helm,name=${release}`;
  const { items } = await ofProd.list(secrets, { namespace: release, labelSelector });
  return items.map(({ metadata }) => metadata.labels?.["version"] ?? "").sort();
}

async function suppliesIn(rest: KubeRest): Promise<readonly string[]> {
  const labelSelector = "flotilla.dev/referenced-object=true";
  const { items } = await rest.list(secrets, { namespace: agentNamespace, labelSelector });
  return items.map(({ metadata }) => metadata.name);
}

const acceptedSays = (message: RegExp) => (helmOp: HelmOp) => {
  const accepted = findCondition(helmOp.status?.conditions, "Accepted");
  return accepted?.status === "False" && message.test(accepted.message ?? "");
};

test("rancher/fleet#3589: a private authority in the Secret is trusted by hub and agent; what is wrong with the Secret is said, and mended at once", async () => {
  await createHelmOp("guarded", {
    helm: { repo: charts.origin, chart: "guarded", version: "1.x" },
    helmSecretName: "login",
    pollingInterval: "1s",
  });
  await helmOpThat(
    fleet.hub,
    "guarded",
    "told that its Secret is missing",
    acceptedSays(
      /^could not read Helm auth from secret: there is no Secret fleet-default\/login; retrying as soon as it is created$/,
    ),
  );
  assert.deepEqual(charts.seen, []);

  await createSecret("login", { username: "me" });
  await helmOpThat(
    fleet.hub,
    "guarded",
    "told that its Secret is half-filled",
    acceptedSays(
      /^could not read Helm auth from secret: .*username is set in the secret, but password isn't$/,
    ),
  );

  await patchSecret("login", { password: one });
  await helmOpThat(
    fleet.hub,
    "guarded",
    "told that the authority is not trusted",
    acceptedSays(/an authority that is not trusted/),
  );

  await patchSecret("login", { cacerts: certificate.caPem });
  await helmOpThat(fleet.hub, "guarded", "ready", isReady("1.0.0", 1));
  assert.deepEqual(await suppliesIn(prod.rest), ["referenced-secret-login"]);
});

test("rancher/fleet#3658: the Secret reaches the agent; a rotated password reaches it, deploys nothing, and fetches the next version", async () => {
  const before = await digestOf("login");

  charts.letIn(login(two));
  await patchSecret("login", { password: two });
  await supplyOf(prod.rest, "login", "rotated", (_found, _gone, digest) => digest !== before);
  charts.publish(await configChart("guarded", "1.1.0"));
  await helmOpThat(fleet.hub, "guarded", "ready at 1.1.0", isReady("1.1.0", 1));

  assert.deepEqual(await revisions("guarded"), ["1", "2"]);
  assert.deepEqual(
    [charts.askedBy(login(one)), charts.askedBy(login(two))].map((paths) =>
      paths.filter((path) => path.endsWith(".tgz")),
    ),
    [["/guarded-1.0.0.tgz"], ["/guarded-1.1.0.tgz"]],
  );
});

test("rancher/fleet#3872: the Secret's own switch turns the check of certificates off, on the hub and at the agent", async () => {
  const lenient = { username: "me", password: two, insecureSkipVerify: "true" };
  await createSecret("lenient", lenient);
  await createHelmOp("lenient", {
    helm: { repo: charts.origin, chart: "guarded", version: "1.0.0" },
    helmSecretName: "lenient",
  });

  await helmOpThat(fleet.hub, "lenient", "ready", isReady("1.0.0", 1));

  await fleet.hub.delete(helmOps, { namespace, name: "lenient" });
  await supplyOf(prod.rest, "lenient", "withdrawn", (found) => !found);
  await fleet.hub.delete(secrets, { namespace, name: "lenient" });
});

test("rancher/fleet#3845: Rancher's authorities are trusted on the hub and at the agent where the Secret names none", async () => {
  await createSecret("no-authority", { username: "me", password: two });
  await createHelmOp("trusting", {
    helm: { repo: charts.origin, chart: "guarded", version: "1.0.0" },
    helmSecretName: "no-authority",
  });
  const untrusted = /an authority that is not trusted/;
  await helmOpThat(fleet.hub, "trusting", "told of it", acceptedSays(untrusted));

  await fleet.hub.create(namespaces, { metadata: { name: "cattle-system" } });
  const metadata = { namespace: "cattle-system", name: "tls-ca" };
  await fleet.hub.create(secrets, {
    metadata,
    data: encoded({ "cacerts.pem": certificate.caPem }),
  });
  await helmOpThat(fleet.hub, "trusting", "ready", isReady("1.0.0", 1));

  await fleet.hub.delete(secrets, metadata);
  await fleet.hub.delete(helmOps, { namespace, name: "trusting" });
  await supplyOf(prod.rest, "no-authority", "withdrawn", (found) => !found);
  await fleet.hub.delete(secrets, { namespace, name: "no-authority" });
});

test("rancher/fleet#2988: docker's configuration opens a registry with TLS, also when its password is rotated on both sides", async () => {
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
  await helmOpThat(fleet.hub, "packed", "ready", isReady("1.0.0", 1));
  const before = await digestOf("docker");

  await registry.stop();
  registry = await runRegistry(login(four));
  await push(await configChart("packed", "1.1.0"));
  await helmOpThat(fleet.hub, "packed", "refused", ({ status }) =>
    /401/.test(findCondition(status?.conditions, "Polled")?.message ?? ""),
  );
  assert.deepEqual(await revisions("packed"), ["1"]);
  await patchSecret("docker", dockerConfig(four));
  await supplyOf(prod.rest, "docker", "rotated", (_found, _gone, digest) => digest !== before);
  await helmOpThat(fleet.hub, "packed", "ready at 1.1.0", isReady("1.1.0", 1));

  assert.deepEqual(await revisions("packed"), ["1", "2"]);
});

test("a Secret that is deleted is missed, and what was installed with it stays", async () => {
  await fleet.hub.delete(secrets, { namespace, name: "docker" });
  await supplyOf(prod.rest, "docker", "gone", (_found, gone) => gone);
  const ref = { namespace: clusterNamespaceName(namespace, prod.name), name: "packed" };
  const deployment = await objectThat(fleet.hub, bundleDeployments, ref, "told", (found) =>
    /does not have the Secret docker any more; what was installed with it stays/.test(
      findCondition(found?.status?.conditions, "Ready")?.message ?? "",
    ),
  );
  const helmOp = await helmOpThat(
    fleet.hub,
    "packed",
    "told of it",
    acceptedSays(/there is no Secret fleet-default\/docker/),
  );

  assert.equal(findCondition(deployment?.status?.conditions, "Ready")?.status, "True");
  assert.equal(findCondition(helmOp.status?.conditions, "Ready")?.status, "True");
  assert.deepEqual(await revisions("packed"), ["1", "2"]);

  const ca = await readFile(caFile, "utf8");
  await createSecret(
    "docker",
    { ...dockerConfig(four), "ca.crt": ca },
    "kubernetes.io/dockerconfigjson",
  );
  await supplyOf(prod.rest, "docker", "back", (_found, gone) => !gone);
  await helmOpThat(
    fleet.hub,
    "packed",
    "accepted again",
    ({ status }) => findCondition(status?.conditions, "Accepted")?.status === "True",
  );
});

test("a password is found where it has to be, and nowhere else", async () => {
  const processes = [fleet.hubProcess(), ...fleet.clusters.map((cluster) => cluster.agent())].map(
    ({ identity }) => identity.pid,
  );

  assert.deepEqual(await objectsWith(fleet.hub, texts), [
    "Secret fleet-default/docker",
    "Secret fleet-default/login",
  ]);
  assert.deepEqual(await objectsWith(prod.rest, texts), [
    "Secret flotilla-agent/referenced-secret-docker",
    "Secret flotilla-agent/referenced-secret-login",
  ]);
  assert.deepEqual(await objectsWith(dev.rest, texts), []);
  assert.deepEqual(await suppliesIn(dev.rest), []);
  for (const file of [fleet.hubLog, prod.agentLog, dev.agentLog]) {
    const text = await readFile(file, "utf8");
    assert.ok(text.length > 0);
    assert.equal(holds(text, texts), false, file);
  }
  for (const pid of processes) {
    const text = await metricsOf(pid);
    assert.match(text, /process_cpu_seconds_total/);
    assert.equal(holds(text, texts), false);
  }
});

test("a Secret leaves the agent with the last HelmOp that needs it", async () => {
  await createHelmOp("second", {
    helm: { repo: charts.origin, chart: "guarded", version: "1.0.0" },
    helmSecretName: "login",
  });
  await helmOpThat(fleet.hub, "second", "ready", isReady("1.0.0", 1));

  for (const name of ["guarded", "packed"]) await fleet.hub.delete(helmOps, { namespace, name });
  await supplyOf(prod.rest, "docker", "withdrawn", (found) => !found);
  assert.deepEqual(await suppliesIn(prod.rest), ["referenced-secret-login"]);
  await fleet.hub.delete(helmOps, { namespace, name: "second" });
  await supplyOf(prod.rest, "login", "withdrawn", (found) => !found);

  assert.deepEqual(await objectsWith(prod.rest, texts), []);
  const lines = argumentsSeen.stop();
  assert.ok(lines.some((line) => line.includes(sought)));
  assert.equal(holds(lines, texts), false);
});
