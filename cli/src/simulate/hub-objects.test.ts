import assert from "node:assert/strict";
import {
  type Cluster,
  clusterRegistrationTokens,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { issueTestCertificate } from "@flotilla/shared/source/testing";
import { type TestContext, test } from "vitest";
import {
  createHelmOps,
  createRegistration,
  deleteSimulation,
  deleteSimulationsNamed,
  type Simulation,
  validateName,
} from "./hub-objects.ts";
import { newBootstraps } from "./plan.ts";

const { caPem } = await issueTestCertificate();
const request = { agents: 2, bundles: 1 };

/** A hub that creates a Secret for every registration token. */
function aHub(t: TestContext): MemoryApiServer {
  const hub = createMemoryApiServer();
  hub.put(namespaces, { metadata: { name: namespace } });
  const controller = new AbortController();
  t.onTestFinished(() => controller.abort());
  void createTokenSecrets(hub, controller.signal);
  return hub;
}

async function createTokenSecrets(hub: MemoryApiServer, signal: AbortSignal): Promise<void> {
  const events = hub.watch(clusterRegistrationTokens, {
    signal,
    resourceVersion: "0",
    timeoutSeconds: 60,
  });
  for await (const event of events) {
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
  const created = { tokens: [], helmOps: [] };
  return { hub, namespace, name: "many", id, created, print: () => undefined };
}

/** Everything that a run creates: its own objects, and the Clusters of its agents. */
async function startSimulation(hub: MemoryApiServer, id?: string): Promise<Simulation> {
  const simulation = aSimulation(hub, id);
  await validateName(simulation, request);
  const registration = await createRegistration(simulation, undefined);
  await createHelmOps(simulation, request.bundles);
  for (const { clusterName = "", clientId = "", labels } of newBootstraps(
    simulation,
    request.agents,
    registration,
  ))
    hub.put(clusters, {
      metadata: { namespace, name: clusterName, labels },
      spec: { clientID: clientId },
    });
  return simulation;
}

/** The names of all objects of the kinds that simulations create. */
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

test("deletes all objects that the simulation created", async (t) => {
  const hub = aHub(t);
  const simulation = await startSimulation(hub);
  assert.deepEqual(await namesOn(hub), ["many", "many-1", "many-1", "many-2"]);

  await deleteSimulation(simulation);

  assert.deepEqual(await namesOn(hub), []);
});

test("does not use or delete a token that a user created", async (t) => {
  const hub = aHub(t);
  hub.put(clusterRegistrationTokens, { metadata: { namespace, name: "many" }, spec: {} });
  const simulation = aSimulation(hub);

  await assert.rejects(createRegistration(simulation, undefined), /AlreadyExists/);
  await deleteSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["many"]);
});

test("creates and deletes no token with --token-secret", async (t) => {
  const hub = aHub(t);
  hub.put(clusterRegistrationTokens, { metadata: { namespace, name: "many" }, spec: {} });
  putRegistration(hub, "many");
  const simulation = aSimulation(hub);
  await validateName(simulation, { ...request, tokenSecret: "many" });

  const { token } = await createRegistration(simulation, "many");
  await deleteSimulation(simulation);

  assert.equal(token, "of many");
  assert.deepEqual(await namesOn(hub), ["many"]);
  assert.deepEqual(hub.writes, []);
});

test("does not delete objects that a user labelled", async (t) => {
  const hub = aHub(t);
  const simulation = await startSimulation(hub);
  hub.put(clusters, aCluster("paris"));
  hub.put(helmOps, aHelmOp("web"));

  await deleteSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["web", "paris"]);
});

test("does not delete objects of another run with the same name", async (t) => {
  const hub = aHub(t);
  await startSimulation(hub, "kept");
  const before = await namesOn(hub);

  await deleteSimulation(aSimulation(hub, "later"));

  assert.deepEqual(await namesOn(hub), before);
});

test("does not delete a HelmOp that was created again by a user", async (t) => {
  const hub = aHub(t);
  const simulation = await startSimulation(hub);
  await hub.delete(helmOps, { namespace, name: "many-1" });
  hub.put(helmOps, aHelmOp("many-1"));

  await deleteSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["many-1"]);
});

test("deletes the HelmOps that were created before one failed", async (t) => {
  const hub = aHub(t);
  hub.put(helmOps, aHelmOp("many-2"));
  const simulation = aSimulation(hub);

  await assert.rejects(createHelmOps(simulation, 3), /AlreadyExists/);
  await deleteSimulation(simulation);

  assert.deepEqual(await namesOn(hub), ["many-2"]);
});

test("rejects a name that objects of users have, and creates nothing", async (t) => {
  const hub = aHub(t);
  hub.put(clusterRegistrationTokens, { metadata: { namespace, name: "many" }, spec: {} });
  hub.put(helmOps, aHelmOp("many-1"));

  await assert.rejects(startSimulation(hub), {
    code: "SIMULATION_NAME_TAKEN",
    message: /ClusterRegistrationToken many, HelmOp many-1; .*another --name$/,
  });

  assert.deepEqual(hub.writes, []);
});

test("rejects a name that a Secret of a user has", async (t) => {
  const hub = aHub(t);
  hub.put(secrets, { metadata: { namespace, name: "many" }, type: "Opaque" });

  await assert.rejects(startSimulation(hub), /: Secret many; nothing was created/);

  assert.deepEqual(hub.writes, []);
});

test("rejects the name of a kept simulation until it is deleted", async (t) => {
  const hub = aHub(t);
  const kept = await startSimulation(hub, "kept");
  const before = await namesOn(hub);

  await assert.rejects(startSimulation(hub), {
    code: "SIMULATION_EXISTS",
    message: /flotilla simulate --remove many -n fleet-default/,
  });
  assert.deepEqual(await namesOn(hub), before);

  await deleteSimulationsNamed(kept, "many");
  await startSimulation(hub);
});

test("does not delete objects of users with a kept simulation", async (t) => {
  const hub = aHub(t);
  const kept = await startSimulation(hub, "kept");
  hub.put(clusters, aCluster("paris"));
  hub.put(helmOps, aHelmOp("web"));

  await deleteSimulationsNamed(kept, "many");

  assert.deepEqual(await namesOn(hub), ["web", "paris"]);
});
