import assert from "node:assert/strict";
import { createAgentKey, createCertificateRequest } from "@flotilla/agent/identity";
import { createAuthority, ensureAuthority, openAuthority } from "@flotilla/hub/authority";
import { readCertificateRequest } from "@flotilla/hub/identity";
import { clusterRegistrationTokens, clusters } from "@flotilla/shared/api";
import { events, secrets } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createNamespace, startHubCluster, workspace } from "../harness/hub-control-plane.ts";
import { startAgent, type TestAgent } from "../harness/in-process-agent.ts";
import { startHub } from "../harness/in-process-hub.ts";
import {
  bootstrap,
  clusterOf,
  connected,
  encoded,
  makeToken,
  startEnrolled,
} from "../harness/registration.ts";
import { enrolRaw, hello, openRaw } from "./raw-agent.ts";

const rest = await startHubCluster();
const hub = await startHub(rest);
const token = await makeToken(rest, hub, "token");

/** Waits for the agent to say why it has no identity, and gives how often it warned. */
async function refusalOf(agent: TestAgent): Promise<string> {
  const isRefusal = (line: string) => line.includes("agent has no valid identity");
  await agent.log.until(() => agent.log.lines.some(isRefusal), "the refusal");
  return agent.log.lines.find(isRefusal) ?? "";
}

/** As somebody does who has it from the hub. */
async function giveToken(namespace: string, data: Readonly<Record<string, string>>): Promise<void> {
  const ref = { namespace, name: "flotilla-bootstrap" };
  await rest.patch(secrets, ref, { type: "merge", body: { data } });
}

describe("a cluster that enrols", () => {
  test("becomes a Cluster with the name and the labels that it asks for, but for reserved ones", async () => {
    const labels = JSON.stringify({ env: "prod", "fleet.cattle.io/mine": "no" });
    await bootstrap(rest, "agent-eu", token, { clusterName: "eu", clientID: "client-eu", labels });
    const agent = startAgent(rest, "agent-eu");
    await connected(hub, "eu");

    const cluster = clusterOf(hub, "eu");
    assert.equal(cluster?.spec.clientID, "client-eu");
    assert.deepEqual(cluster.metadata.labels, { env: "prod" });
    await agent.stop();
  });

  test("is named after its own UID when it asks for no name", async () => {
    await bootstrap(rest, "agent-nameless", token, {});
    const agent = startAgent(rest, "agent-nameless");
    await hub.until(
      () =>
        hub.clusters.store
          .list()
          .some(({ metadata }) => /^cluster-[0-9a-f]{12}$/.test(metadata.name)),
      "the Cluster",
    );

    await agent.stop();
  });

  test("is the same Cluster again after a crash between its key and its certificate", async () => {
    const before = await startEnrolled(rest, hub, token, "crash");
    await before.stop();
    const uid = clusterOf(hub, "crash")?.metadata.uid;
    const ref = { namespace: "agent-crash", name: "flotilla-identity" };
    const secret = await rest.get(secrets, ref);
    assert.ok(secret?.data?.["tls.key"]);
    await rest.replace(secrets, { ...secret, data: { "tls.key": secret.data["tls.key"] } });

    const after = startAgent(rest, "agent-crash");
    await hub.until(() => clusterOf(hub, "crash")?.status?.agent?.epoch === 2, "it is back");

    assert.equal(clusterOf(hub, "crash")?.metadata.uid, uid);
    await after.stop();
  });

  test("comes back with its key alone when its certificate has ended and its token is gone", async () => {
    const own = await makeToken(rest, hub, "short-lived");
    const before = await startEnrolled(rest, hub, own, "away");
    await before.stop();
    await rest.delete(clusterRegistrationTokens, { namespace: workspace, name: "short-lived" });
    await rest.delete(secrets, { namespace: "agent-away", name: "flotilla-bootstrap" });
    await hub.until(
      () => hub.tokens.store.get(`${workspace}/short-lived`) === undefined,
      "the token goes",
    );

    const inTwoDays = createFakeClock(Date.now() + 48 * 3_600_000);
    const after = startAgent(rest, "agent-away", { clock: inTwoDays });
    await hub.until(() => clusterOf(hub, "away")?.status?.agent?.epoch === 2, "it is back");

    await after.stop();
  });

  test("renews its certificate in time, over the connection that it has", async () => {
    await hub.stop();
    const brief = await startHub(rest, { port: hub.port, certificateLifetimeMs: 9_000 });
    const agent = await startEnrolled(rest, brief, token, "renews");

    await brief.until(
      () => (clusterOf(brief, "renews")?.status?.agent?.epoch ?? 0) >= 2,
      "the new connection",
    );

    assert.ok(agent.log.lines.some((line) => line.includes("certificate renewed")));
    assert.ok(!agent.log.lines.some((line) => line.includes('"level":40')), "without a warning");
    await agent.stop();
    await brief.stop();
  });
});

describe("a cluster that is turned away", () => {
  test("with a wrong token reads why, once, and so does the hub", async () => {
    const next = await startHub(rest);
    const wrong = { ...(await makeToken(rest, next, "right")), ...encoded({ token: "made.up" }) };
    await bootstrap(rest, "agent-wrong", wrong, { clusterName: "wrong", clientID: "client-wrong" });
    const clock = createFakeClock(Date.now());
    const agent = startAgent(rest, "agent-wrong", { clock });

    assert.match(
      await refusalOf(agent),
      /registration token is not one of this hub, or it expired and was deleted; create a new/,
    );
    await clock.advance(2_000);
    await agent.log.until(
      () => agent.log.lines.filter((line) => line.includes("no valid identity")).length >= 2,
      "another try",
    );

    assert.equal(agent.log.lines.filter((line) => line.includes('"level":40')).length, 1);
    assert.equal(next.log.lines.filter((line) => line.includes("rejected an enrolment")).length, 1);
    assert.equal(clusterOf(next, "wrong"), undefined);
    await agent.stop();
    await next.stop();
  });

  test("with a token that has ended reads why", async () => {
    const clock = createFakeClock(Date.now());
    const next = await startHub(rest, { clock });
    const ended = await makeToken(rest, next, "ends", { ttl: "30s" });
    assert.ok(next.tokens.store.get(`${workspace}/ends`)?.status?.expires);
    // Less than what a loop may take for one request, which is a real one.
    await clock.advance(31_000);
    await bootstrap(rest, "agent-late", ended, { clusterName: "late", clientID: "client-late" });

    const agent = startAgent(rest, "agent-late", { clock: createFakeClock(Date.now()) });

    assert.match(
      await refusalOf(agent),
      /registration token .*(expired at|is not one of this hub, or it expired) .*; create a new/,
    );
    await next.until(
      () => next.tokens.store.get(`${workspace}/ends`) === undefined,
      "the token goes",
    );
    await agent.stop();
    await next.stop();
  });

  test("with another key than its client id is enrolled with, which is said on the Cluster", async () => {
    const next = await startHub(rest);
    const fresh = await makeToken(rest, next, "second");
    const owner = await startEnrolled(rest, next, fresh, "owned");
    const { uid } = clusterOf(next, "owned")?.metadata ?? {};
    await bootstrap(rest, "agent-thief", fresh, { clusterName: "owned", clientID: "client-owned" });

    const thief = startAgent(rest, "agent-thief", { clock: createFakeClock(Date.now()) });

    assert.match(
      await refusalOf(thief),
      /client-owned is enrolled as Cluster fleet-default\/owned with another key/,
    );
    assert.ok(owner.link.isConnected);
    await thief.stop();
    await owner.stop();
    await next.stop();
    const told = await rest.list(events, { namespace: workspace });
    assert.ok(
      told.items.some(
        ({ reason, regarding }) => reason === "EnrolmentRejected" && regarding?.uid === uid,
      ),
    );
  });

  test("with a certificate of another authority, or of a Cluster that is gone", async () => {
    const next = await startHub(rest);
    const identity = await enrolRaw(rest, await makeToken(rest, next, "third"), "foreign");
    const foreign = await openAuthority(await createAuthority(Date.now()), Date.now);
    const { spki } = await readCertificateRequest(await createCertificateRequest(identity.keyPem));
    const { cluster, hubId } = identity;
    const chainPem = await foreign.issueClient({
      identity: { hubId, ...cluster },
      spki,
      lifetimeMs: 3_600_000,
    });

    const forged = openRaw({ ...identity, chainPem });
    forged.say(hello(identity));
    assert.match(
      await forged.ended,
      /^UNAUTHENTICATED: no valid client certificate that this hub issued/,
    );
    assert.ok(next.log.lines.some((line) => line.includes("rejected an agent's call")));

    const good = openRaw(identity);
    good.listen();
    good.say(hello(identity));
    await good.until(() => good.received.length > 0, "the welcome");
    await rest.delete(clusters, { namespace: workspace, name: "foreign" });
    assert.match(
      await good.ended,
      /^PERMISSION_DENIED: Cluster fleet-default\/foreign was deleted/,
    );
    const late = openRaw(identity);
    late.say(hello(identity));
    assert.match(
      await late.ended,
      /^PERMISSION_DENIED: Cluster fleet-default\/foreign does not exist/,
    );
    for (const raw of [forged, good, late]) raw.close();
    await next.stop();
  });
});

describe("an agent that is given another token", () => {
  test("comes back with it after its Cluster was deleted, and until then asks less and less often", async () => {
    const next = await startHub(rest);
    const clock = createFakeClock(Date.now());
    const first = await makeToken(rest, next, "before-deletion");
    await bootstrap(rest, "agent-deleted", first, { clusterName: "deleted", clientID: "deleted" });
    const agent = startAgent(rest, "agent-deleted", { clock });
    await connected(next, "deleted");
    const uid = clusterOf(next, "deleted")?.metadata.uid;

    await rest.delete(clusters, { namespace: workspace, name: "deleted" });
    for (const waitMs of [300, 600, 1_200, 2_400]) {
      await clock.timer((delayMs) => delayMs === waitMs);
      clock.advanceNow(waitMs);
    }
    await clock.timer((delayMs) => delayMs === 4_800);
    const refusals = agent.log.lines.filter((line) => line.includes("not connected to the hub"));
    assert.equal(refusals.length, 5);
    assert.match(refusals[0] ?? "", /was deleted on the hub; to enrol .*flotilla-bootstrap/);
    assert.match(refusals[1] ?? "", /Cluster fleet-default\/deleted does not exist on this hub/);
    assert.equal(refusals.filter((line) => line.includes('"level":40')).length, 2);
    assert.equal(clusterOf(next, "deleted"), undefined, "its first token opens nothing any more");

    await giveToken("agent-deleted", await makeToken(rest, next, "after-deletion"));
    await connected(next, "deleted");

    assert.notEqual(clusterOf(next, "deleted")?.metadata.uid, uid);
    await agent.stop();
    await next.stop();
  });

  test("of a hub that is not to be reached goes on as who it is, and says so", async () => {
    const next = await startHub(rest);
    const agent = await startEnrolled(rest, next, await makeToken(rest, next, "good"), "steady");

    const { certificatePem } = await createAuthority(Date.now());
    await giveToken("agent-steady", encoded({ token: "made.up", "ca.crt": certificatePem }));
    const isRefusal = (line: string) => line.includes("could not enrol again");
    await agent.log.until(() => agent.log.lines.some(isRefusal), "the refusal");

    assert.match(
      agent.log.lines.find(isRefusal) ?? "",
      /could not enrol with the hub at .*certificate/,
    );
    assert.ok(agent.link.isConnected);
    assert.equal(clusterOf(next, "steady")?.status?.agent?.epoch, 1);
    await agent.stop();
    await next.stop();
  });
});

describe("the hub's authority", () => {
  test("is one, however many replicas start at once", async () => {
    await createNamespace(rest, "many-replicas");

    const authorities = await Promise.all(
      Array.from({ length: 6 }, () => ensureAuthority(rest, "many-replicas", Date.now(), 1)),
    );

    assert.equal(new Set(authorities.map(({ data }) => data?.["tls.crt"])).size, 1);
  });

  test("refuses a request that is not signed with its own key", async () => {
    const request = await createCertificateRequest(await createAgentKey());
    request[request.length - 1] = (request.at(-1) ?? 0) ^ 1;

    await assert.rejects(readCertificateRequest(request), /invalid certificate request/);
  });
});
