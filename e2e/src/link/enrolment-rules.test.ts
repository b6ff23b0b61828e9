/** What a token says of the clusters that enrol with it, and how a cluster is sent away and comes back. */
import assert from "node:assert/strict";
import { identitySecretName } from "@flotilla/agent/identity";
import { clusters } from "@flotilla/shared/api";
import { agentKeyAnnotation, revokedAtAnnotation } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import { events, secrets } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, describe, test } from "vitest";
import { watched } from "../harness/change-signal.ts";
import { runClusterLoop } from "../harness/cluster-controller.ts";
import { startHubCluster, workspace } from "../harness/hub-control-plane.ts";
import { startAgent, type TestAgent } from "../harness/in-process-agent.ts";
import { startHub } from "../harness/in-process-hub.ts";
import { bootstrap, clusterOf, connected, makeToken } from "../harness/registration.ts";
import { deploymentsOf, digest } from "./deployments.ts";
import { enrolRaw, hello, openRaw } from "./raw-agent.ts";

const rest = await startHubCluster();
const hub = await startHub(rest);
const loop = await runClusterLoop(rest, hub);
const token = await makeToken(rest, hub, "common");
const told = createInformer({ rest, resource: events, namespace: workspace, log: silentLog() });
const news = watched();
told.onChange(() => news.changed());
const ending = new AbortController();
const telling = told.run(ending.signal);
afterAll(async () => {
  ending.abort();
  await telling;
});

/** Starts an agent in a namespace of its own, with a key of its own. */
async function start(
  namespace: string,
  data: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Promise<TestAgent> {
  await bootstrap(rest, namespace, data, more);
  // It stands still, so that an agent that is refused asks once.
  return startAgent(rest, namespace, { clock: createFakeClock(Date.now()) });
}

async function giveToken(namespace: string, data: Readonly<Record<string, string>>): Promise<void> {
  const ref = { namespace, name: "flotilla-bootstrap" };
  await rest.patch(secrets, ref, { type: "merge", body: { data } });
}

async function line(agent: TestAgent, part: string): Promise<string> {
  const isWanted = (one: string) => one.includes(part);
  await agent.log.until(() => agent.log.lines.some(isWanted), part);
  return agent.log.lines.find(isWanted) ?? "";
}

/** What the Event of that reason on a Cluster says, as soon as there is one. */
async function note(cluster: string, reason: string): Promise<string> {
  const { uid } = clusterOf(hub, cluster)?.metadata ?? {};
  const find = () =>
    told.store.list().find((one) => one.regarding?.uid === uid && one.reason === reason)?.note;
  await news.until(() => find() !== undefined, `${reason} on ${cluster}`);
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
  test("fixes labels and limits those that an agent gives itself, which is told, and counts its clusters", async () => {
    const limited = await makeToken(rest, hub, "limited", {
      labels: { env: "test", "fleet.cattle.io/tier": "gold" },
      allowedLabels: ["env", "example.com/*"],
    });
    const labels = JSON.stringify({ env: "prod", "example.com/zone": "z", team: "a" });
    const agent = await start("agent-eu", limited, { clusterName: "eu", clientID: "eu", labels });
    await connected(hub, "eu");
    await hub.until(() => usesOf("limited") === 1, "the first use is told");

    assert.deepEqual(clusterOf(hub, "eu")?.metadata.labels, {
      env: "test",
      "fleet.cattle.io/tier": "gold",
      "example.com/zone": "z",
    });
    assert.ok(hub.log.lines.some((one) => one.includes('"labels":["env","team"]')));
    assert.match(await note("eu", "LabelsRejected"), /on its cluster: env, team; /);

    const second = await start("agent-us", limited, { clusterName: "us", clientID: "us" });
    await connected(hub, "us");
    await hub.until(() => usesOf("limited") === 2, "the second use is told");
    await rest.delete(clusters, { namespace: workspace, name: "us" });
    await hub.until(() => usesOf("limited") === 1, "it is gone from the count");
    await Promise.all([agent.stop(), second.stop()]);
  });

  test("that is for one Cluster lets another key take its place, and the key of before is worth nothing", async () => {
    const before = await enrolRaw(rest, token, "paris");
    const stream = openRaw(before);
    stream.listen();
    stream.say(hello(before));
    await stream.until(() => stream.received.length > 0, "the welcome");
    const { metadata } = clusterOf(hub, "paris") ?? {};
    await loop.housed("paris");
    await deploymentsOf(rest, "paris").create("web", digest("1"));
    const forParis = await makeToken(rest, hub, "for-paris", { clusterName: "paris" });

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
    const late = openRaw(before);
    late.say(hello(before));
    assert.match(await late.ended, /^PERMISSION_DENIED: .* is now enrolled with another key/);

    const elsewhere = await start("agent-other", token, { clusterName: "other", clientID: "o" });
    await connected(hub, "other");
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
  test("is sent away at once, comes back with a later token alone, and as who it was, with a new key", async () => {
    const agent = await start("agent-rome", token, { clusterName: "rome", clientID: "rome" });
    await connected(hub, "rome");
    const { uid, annotations } = clusterOf(hub, "rome")?.metadata ?? {};
    const identity = { namespace: "agent-rome", name: identitySecretName };
    const before = await rest.get(secrets, identity);
    const older = await makeToken(rest, hub, "older");
    // Tokens tell their age to the second.
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
    await giveToken("agent-rome", await makeToken(rest, hub, "later"));
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

    // Killed before the hub's answer was stored: it has a key for this token, and is still who it was.
    const { data: own } = (await rest.get(secrets, identity)) ?? {};
    assert.equal(own?.["next.key"], undefined);
    const [key = "", mark = ""] = [own?.["tls.key"], own?.["bootstrapDigest"]];
    const data = { ...before?.data, "next.key": key, nextKeyBootstrapDigest: mark };
    await rest.patch(secrets, identity, { type: "merge", body: { data } });
    const again = startAgent(rest, "agent-rome", { clock: createFakeClock(Date.now()) });
    await hub.until(() => clusterOf(hub, "rome")?.status?.agent?.epoch === 3, "it is back again");
    await again.stop();
  });
});

describe("a cluster whose Cluster was deleted", () => {
  /** As an agent does whose Secret with its identity somebody has deleted. */
  async function startForgetful(namespace: string): Promise<TestAgent> {
    await rest.delete(secrets, { namespace, name: identitySecretName });
    return startAgent(rest, namespace, { clock: createFakeClock(Date.now()) });
  }

  test("does not come back with the token that it enrolled with, whatever it has forgotten", async () => {
    const agent = await start("agent-oslo", token, { clusterName: "oslo", clientID: "oslo" });
    await connected(hub, "oslo");
    await rest.delete(clusters, { namespace: workspace, name: "oslo" });
    await line(agent, "Cluster fleet-default/oslo was deleted on the hub");
    await agent.stop();

    const forgetful = await startForgetful("agent-oslo");
    assert.match(
      await line(forgetful, "no valid identity"),
      /Cluster of client id oslo was deleted, and the registration token common .* cannot enrol it again; create a new/,
    );
    await giveToken("agent-oslo", await makeToken(rest, hub, "for-oslo"));
    await connected(hub, "oslo");
    await forgetful.stop();
  });

  test("neither when it was deleted while no hub ran", async () => {
    const own = await makeToken(rest, hub, "for-bern");
    const agent = await start("agent-bern", own, { clusterName: "bern", clientID: "bern" });
    await connected(hub, "bern");
    await loop.housed("bern");
    await agent.stop();
    await loop.stop();
    await hub.stop();

    await rest.delete(clusters, { namespace: workspace, name: "bern" });
    const next = await startHub(rest, { port: hub.port });
    const early = await startForgetful("agent-bern");
    const refusal = /Cluster of client id bern was deleted/;
    assert.match(await line(early, "no valid identity"), refusal);
    await early.stop();

    await runClusterLoop(rest, next);
    const removed = () => next.tokens.store.get(`${workspace}/for-bern`)?.status?.removedClients;
    await next.until(() => removed()?.length === 1, "the token remembers it");
    const late = await startForgetful("agent-bern");
    assert.match(await line(late, "no valid identity"), refusal);
    assert.equal(clusterOf(next, "bern"), undefined);
    await late.stop();
    await next.stop();
  });
});
