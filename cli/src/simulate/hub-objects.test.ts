import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names.ts";
import { clusterRegistrationTokens, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { namespaces, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import {
  createMemoryApiServer,
  type MemoryApiServer,
} from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { issueTestCertificate } from "@flotilla/shared/source/testing/certificate.ts";
import { type TestContext, test } from "vitest";
import {
  checkName,
  createHelmOps,
  registrationOf,
  removeKept,
  removeSimulation,
  type Simulation,
} from "./hub-objects.ts";
import { bootstrapsOf } from "./plan.ts";

const { caPem } = await issueTestCertificate();
const wanted = { agents: 2, bundles: 1 };

/** A hub that answers every registration token with its Secret. */
function aHub(t: TestContext): MemoryApiServer {
  const hub = createMemoryApiServer();
  hub.put(namespaces, { metadata: { name: namespace } });
  const ending = new AbortController();
  t.onTestFinished(() => ending.abort());
  void answerTokens(hub, ending.signal);
  return hub;
}

async function answerTokens(hub: MemoryApiServer, signal: AbortSignal): Promise<void> {
  const news = hub.watch(clusterRegistrationTokens, {
    signal,
    resourceVersion: "0",
    timeoutSeconds: 60,
  });
  for await (const event of news) {
    if (event.type !== "ADDED") continue;
    const { name } = event.object.metadata;
    putRegistration(hub, name);
    hub.put(clusterRegistrationTokens, { ...event.object, status: { secretName: name } });
  }
}

function putRegistration(hub: MemoryApiServer, name: string): void {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  hub.put(secrets, {
    metadata: { namespace, name },
    type: "fleet.cattle.io/cluster-registration-values",
    data: { address: base64("hub:1"), "ca.crt": base64(caPem), token: base64(`of ${name}`) },
  });
}

function aSimulation(hub: MemoryApiServer, id = "run"): Simulation {
  const made = { tokens: [], helmOps: [] };
  return { hub, namespace, name: "many", id, made, tell: () => undefined };
}

/** A whole run: what it makes, and what its agents make. */
async function begun(hub: MemoryApiServer, id?: string): Promise<Simulation> {
  const simulation = aSimulation(hub, id);
  await checkName(simulation, wanted);
  const registration = await registrationOf(simulation, undefined);
  await createHelmOps(simulation, wanted.bundles);
  for (const { clusterName = "", clientId = "", labels } of bootstrapsOf(
    simulation,
    wanted.agents,
    registration,
  ))
    hub.put(clusters, {
      metadata: { namespace, name: clusterName, labels },
      spec: { clientID: clientId },
    });
  return simulation;
}

/** Of all kinds that simulations make. */
async function namesOn(hub: MemoryApiServer): Promise<readonly string[]> {
  const pages = [
    await hub.list(clusterRegistrationTokens),
    await hub.list(helmOps),
    await hub.list(clusters),
  ];
  return pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
}

function aCluster(name: string): Cluster {
  const labels = { simulation: "many" };
  return { metadata: { namespace, name, labels }, spec: { clientID: name } };
}

function aHelmOp(name: string): HelmOp {
  return { metadata: { namespace, name, labels: { simulation: "many" } }, spec: {} };
}

test("a simulation takes away what it made", async (t) => {
  const hub = aHub(t);
  const simulation = await begun(hub);
  assert.deepEqual(await namesOn(hub), ["many", "many-1", "many-1", "many-2"]);

  await removeSimulation(simulation);

  assert.deepEqual(await namesOn(hub), []);
});

test("a token that somebody else made is not enrolled with, and stays", async (t) => {
  const hub = aHub(t);
  hub.put(clusterRegistrationTokens, { metadata: { namespace, name: "many" }, spec: {} });
  const simulation = aSimulation(hub);

  await assert.rejects(registrationOf(simulation, undefined), /AlreadyExists/);
  await removeSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["many"]);
});

test("with a token that is given, none is made and none deleted", async (t) => {
  const hub = aHub(t);
  hub.put(clusterRegistrationTokens, { metadata: { namespace, name: "many" }, spec: {} });
  putRegistration(hub, "many");
  const simulation = aSimulation(hub);
  await checkName(simulation, { ...wanted, tokenSecret: "many" });

  const { token } = await registrationOf(simulation, "many");
  await removeSimulation(simulation);

  assert.equal(token, "of many");
  assert.deepEqual(await namesOn(hub), ["many"]);
  assert.deepEqual(hub.writes, []);
});

test("what somebody else labelled as the simulation's stays", async (t) => {
  const hub = aHub(t);
  const simulation = await begun(hub);
  hub.put(clusters, aCluster("paris"));
  hub.put(helmOps, aHelmOp("web"));

  await removeSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["web", "paris"]);
});

test("what another run of the same name made stays", async (t) => {
  const hub = aHub(t);
  await begun(hub, "kept");
  const before = await namesOn(hub);

  await removeSimulation(aSimulation(hub, "later"));

  assert.deepEqual(await namesOn(hub), before);
});

test("what took the place of a HelmOp of the simulation stays", async (t) => {
  const hub = aHub(t);
  const simulation = await begun(hub);
  await hub.delete(helmOps, { namespace, name: "many-1" });
  hub.put(helmOps, aHelmOp("many-1"));

  await removeSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["many-1"]);
});

test("a HelmOp that could not be made leaves those before it to be taken away", async (t) => {
  const hub = aHub(t);
  hub.put(helmOps, aHelmOp("many-2"));
  const simulation = aSimulation(hub);

  await assert.rejects(createHelmOps(simulation, 3), /AlreadyExists/);
  await removeSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["many-2"]);
});

test("a name that somebody else's objects have is refused before anything is made", async (t) => {
  const hub = aHub(t);
  hub.put(clusterRegistrationTokens, { metadata: { namespace, name: "many" }, spec: {} });
  hub.put(helmOps, aHelmOp("many-1"));

  await assert.rejects(begun(hub), {
    code: "SIMULATION_NAME_TAKEN",
    message: /ClusterRegistrationToken many, HelmOp many-1\..*another --name$/,
  });

  assert.deepEqual(hub.writes, []);
});

test("a Secret that the token's would have to replace is refused too", async (t) => {
  const hub = aHub(t);
  hub.put(secrets, { metadata: { namespace, name: "many" }, type: "Opaque" });

  await assert.rejects(begun(hub), /: Secret many\..*nothing was made/);

  assert.deepEqual(hub.writes, []);
});

test("a simulation that was kept is refused with how to remove it, and stays until then", async (t) => {
  const hub = aHub(t);
  const kept = await begun(hub, "kept");
  const before = await namesOn(hub);

  await assert.rejects(begun(hub), {
    code: "SIMULATION_THERE",
    message: /flotilla simulate --remove many -n fleet-default/,
  });
  assert.deepEqual(await namesOn(hub), before);

  await removeKept(kept, "many");
  await begun(hub);
});

test("removing a simulation that was kept leaves what no simulation made", async (t) => {
  const hub = aHub(t);
  const kept = await begun(hub, "kept");
  hub.put(clusters, aCluster("paris"));
  hub.put(helmOps, aHelmOp("web"));

  await removeKept(kept, "many");

  assert.deepEqual(await namesOn(hub), ["web", "paris"]);
});
