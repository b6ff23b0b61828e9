/** The rules of a registration token for its clusters, revocation, and registration after it. */
import assert from "node:assert/strict";
import { clusters } from "@flotilla/shared/api";
import {
  agentKeyAnnotation,
  identitySecretName,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import { events, secrets } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, describe, test } from "vitest";
import { createChangeSignal } from "../harness/change-signal.ts";
import { startClusterController } from "../harness/cluster-controller.ts";
import { startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { type InProcessAgent, startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import {
  clusterOf,
  createBootstrap,
  createToken,
  waitUntilConnected,
} from "../harness/registration.ts";
import { deploymentsOf, sha256 } from "./deployments.ts";
import { enrolRawAgent, hello, openRawStream } from "./raw-agent.ts";

const rest = await startHubControlPlane();
const hub = await startInProcessHub(rest);
const loop = await startClusterController(rest, hub);
const token = await createToken(rest, hub, "common");
const recordedEvents = createInformer({
  rest,
  resource: events,
  namespace: workspace,
  log: silentLog(),
});
const eventSignal = createChangeSignal();
recordedEvents.onChange(() => eventSignal.changed());
const ending = new AbortController();
const watchingEvents = recordedEvents.run(ending.signal);
afterAll(async () => {
  ending.abort();
  await watchingEvents;
});

/** Starts an agent in a namespace of its own, with a key of its own. */
async function start(
  namespace: string,
  data: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Promise<InProcessAgent> {
  await createBootstrap(rest, namespace, data, more);
  // A clock that does not advance, so that a rejected agent does not retry.
  return startInProcessAgent(rest, namespace, { clock: createFakeClock(Date.now()) });
}

async function giveToken(namespace: string, data: Readonly<Record<string, string>>): Promise<void> {
  const ref = { namespace, name: "flotilla-bootstrap" };
  await rest.patch(secrets, ref, { type: "merge", body: { data } });
}

async function line(agent: InProcessAgent, part: string): Promise<string> {
  const isWanted = (one: string) => one.includes(part);
  await agent.log.until(() => agent.log.lines.some(isWanted), part);
  return agent.log.lines.find(isWanted) ?? "";
}

/** The note of the Event of that reason on a Cluster, once it is recorded. */
async function note(cluster: string, reason: string): Promise<string> {
  const { uid } = clusterOf(hub, cluster)?.metadata ?? {};
  const find = () =>
    recordedEvents.store.list().find((one) => one.regarding?.uid === uid && one.reason === reason)
      ?.note;
  await eventSignal.until(() => find() !== undefined, `${reason} on ${cluster}`);
  return find() ?? "";
}

function usesOf(name: string): number | undefined {
  return hub.tokens.store.get(`${workspace}/${name}`)?.status?.uses;
}

async function revoke(name: string, at: string): Promise<void> {
  const body = { metadata: { annotations: { [revokedAtAnnotation]: at } } };
  await rest.patch(clusters, { namespace: workspace, name }, { type: "merge", body });
}

describe("a token", () => {
  test("sets labels and restricts those that an agent requests, with an Event, and counts its clusters", async () => {
    const limited = await createToken(rest, hub, "limited", {
      labels: { env: "test", "fleet.cattle.io/tier": "gold" },
      allowedLabels: ["env", "example.com/*"],
    });
    const labels = JSON.stringify({ env: "prod", "example.com/zone": "z", team: "a" });
    const agent = await start("agent-eu", limited, { clusterName: "eu", clientID: "eu", labels });
    await waitUntilConnected(hub, "eu");
    await hub.until(() => usesOf("limited") === 1, "the first use is counted");

    assert.deepEqual(clusterOf(hub, "eu")?.metadata.labels, {
      env: "test",
      "fleet.cattle.io/tier": "gold",
      "example.com/zone": "z",
    });
    assert.ok(hub.log.lines.some((one) => one.includes('"labels":["env","team"]')));
    assert.match(await note("eu", "LabelsRejected"), /on its cluster: env, team; /);

    const second = await start("agent-us", limited, { clusterName: "us", clientID: "us" });
    await waitUntilConnected(hub, "us");
    await hub.until(() => usesOf("limited") === 2, "the second use is counted");
    await rest.delete(clusters, { namespace: workspace, name: "us" });
    await hub.until(() => usesOf("limited") === 1, "it is gone from the count");
    await Promise.all([agent.stop(), second.stop()]);
  });

  test("that is for one Cluster replaces its key by another one, and the former key is rejected", async () => {
    const before = await enrolRawAgent(rest, token, "paris");
    const stream = openRawStream(before);
    stream.listen();
    stream.send(hello(before));
    await stream.until(() => stream.received.length > 0, "the welcome");
    const { metadata } = clusterOf(hub, "paris") ?? {};
    await loop.waitForNamespace("paris");
    await deploymentsOf(rest, "paris").create("web", sha256("1"));
    const forParis = await createToken(rest, hub, "for-paris", { clusterName: "paris" });

    const agent = await start("agent-rebuilt", forParis, { clientID: "rebuilt", clusterName: "x" });
    assert.match(
      await stream.ended,
      /^PERMISSION_DENIED: Cluster fleet-default\/paris is now enrolled with another key/,
    );
    await agent.until(() => agent.assigned.length === 1, "what paris is to run");

    const after = clusterOf(hub, "paris");
    assert.equal(after?.metadata.uid, metadata?.uid);
    assert.equal(after?.spec.clientID, "rebuilt");
    assert.match(await note("paris", "TakenOver"), /token for-paris; the previous key/);
    const late = openRawStream(before);
    late.send(hello(before));
    assert.match(await late.ended, /^PERMISSION_DENIED: .* is now enrolled with another key/);

    const elsewhere = await start("agent-other", token, { clusterName: "other", clientID: "o" });
    await waitUntilConnected(hub, "other");
    await giveToken("agent-other", forParis);
    assert.match(
      await line(elsewhere, "could not enrol again"),
      /for-paris is for Cluster paris only, and client id o is enrolled as Cluster fleet-default\/other/,
    );
    for (const raw of [stream, late]) raw.close();
    await Promise.all([agent.stop(), elsewhere.stop()]);
  });
});

describe("a cluster that was revoked", () => {
  test("is disconnected at once, and registers as the same Cluster only with a later token and a new key", async () => {
    const agent = await start("agent-rome", token, { clusterName: "rome", clientID: "rome" });
    await waitUntilConnected(hub, "rome");
    const { uid, annotations } = clusterOf(hub, "rome")?.metadata ?? {};
    const identity = { namespace: "agent-rome", name: identitySecretName };
    const before = await rest.get(secrets, identity);
    const older = await createToken(rest, hub, "older");
    // The age of a token has a resolution of a second.
    const made = hub.tokens.store.get(`${workspace}/older`)?.metadata.creationTimestamp ?? "";
    const at = new Date(Date.parse(made) + 1_000).toISOString();

    await revoke("rome", at);
    assert.match(await line(agent, "not connected"), /Cluster fleet-default\/rome was revoked at/);
    await giveToken("agent-rome", older);
    assert.match(
      await line(agent, "is older (created at"),
      /the registration token older is older \(created at .*\); create a new ClusterRegistrationToken/,
    );
    assert.match(await note("rome", "EnrolmentRejected"), /because this cluster was revoked/);
    assert.equal(clusterOf(hub, "rome")?.metadata.annotations?.[revokedAtAnnotation], at);

    await revoke("rome", made);
    await giveToken("agent-rome", await createToken(rest, hub, "later"));
    await hub.until(() => clusterOf(hub, "rome")?.status?.agent?.epoch === 2, "it is back");

    const back = clusterOf(hub, "rome")?.metadata;
    assert.equal(back?.uid, uid);
    assert.equal(back?.annotations?.[revokedAtAnnotation], undefined);
    assert.notEqual(
      back?.annotations?.[agentKeyAnnotation],
      annotations?.[agentKeyAnnotation],
      "with a key that it has made itself",
    );
    await line(agent, "hub asked for a new key, created one");
    await agent.stop();

    // Killed before it stored the response of the hub: it has a key for this token and its former identity.
    const { data: own } = (await rest.get(secrets, identity)) ?? {};
    assert.equal(own?.["next.key"], undefined);
    const [key = "", mark = ""] = [own?.["tls.key"], own?.["bootstrapDigest"]];
    const data = { ...before?.data, "next.key": key, nextKeyBootstrapDigest: mark };
    await rest.patch(secrets, identity, { type: "merge", body: { data } });
    const again = startInProcessAgent(rest, "agent-rome", { clock: createFakeClock(Date.now()) });
    await hub.until(() => clusterOf(hub, "rome")?.status?.agent?.epoch === 3, "it is back again");
    await again.stop();
  });
});

describe("a cluster whose Cluster was deleted", () => {
  /** As an agent whose identity Secret was deleted. */
  async function startForgetful(namespace: string): Promise<InProcessAgent> {
    await rest.delete(secrets, { namespace, name: identitySecretName });
    return startInProcessAgent(rest, namespace, { clock: createFakeClock(Date.now()) });
  }

  test("does not register again with the same token, also without its identity", async () => {
    const agent = await start("agent-oslo", token, { clusterName: "oslo", clientID: "oslo" });
    await waitUntilConnected(hub, "oslo");
    await rest.delete(clusters, { namespace: workspace, name: "oslo" });
    await line(agent, "Cluster fleet-default/oslo was deleted on the hub");
    await agent.stop();

    const forgetful = await startForgetful("agent-oslo");
    assert.match(
      await line(forgetful, "no valid identity"),
      /Cluster of client id oslo was deleted, and the registration token common .* cannot enrol it again; create a new/,
    );
    await giveToken("agent-oslo", await createToken(rest, hub, "for-oslo"));
    await waitUntilConnected(hub, "oslo");
    await forgetful.stop();
  });

  test("nor when it was deleted while no hub ran", async () => {
    const own = await createToken(rest, hub, "for-bern");
    const agent = await start("agent-bern", own, { clusterName: "bern", clientID: "bern" });
    await waitUntilConnected(hub, "bern");
    await loop.waitForNamespace("bern");
    await agent.stop();
    await loop.stop();
    await hub.stop();

    await rest.delete(clusters, { namespace: workspace, name: "bern" });
    const next = await startInProcessHub(rest, { port: hub.port });
    const early = await startForgetful("agent-bern");
    const rejection = /Cluster of client id bern was deleted/;
    assert.match(await line(early, "no valid identity"), rejection);
    await early.stop();

    await startClusterController(rest, next);
    const removed = () => next.tokens.store.get(`${workspace}/for-bern`)?.status?.removedClients;
    await next.until(() => removed()?.length === 1, "the token remembers it");
    const late = await startForgetful("agent-bern");
    assert.match(await line(late, "no valid identity"), rejection);
    assert.equal(clusterOf(next, "bern"), undefined);
    await late.stop();
    await next.stop();
  });
});
