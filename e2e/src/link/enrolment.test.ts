import assert from "node:assert/strict";
import { createAgentKey, createCertificateRequest } from "@flotilla/agent/state";
import {
  createAuthority,
  ensureAuthority,
  openAuthority,
  readCertificateRequest,
} from "@flotilla/hub/link";
import { clusterRegistrationTokens, clusters } from "@flotilla/shared/api";
import { events, secrets } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createNamespace, startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { type InProcessAgent, startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import {
  clusterOf,
  createBootstrap,
  createToken,
  encoded,
  startEnrolledAgent,
  waitUntilConnected,
} from "../harness/registration.ts";
import { enrolRawAgent, hello, openRawStream } from "./raw-agent.ts";

const rest = await startHubControlPlane();
const hub = await startInProcessHub(rest);
const token = await createToken(rest, hub, "token");

/** Waits until the agent has logged why it has no identity; resolves with the number of its warnings. */
async function refusalOf(agent: InProcessAgent): Promise<string> {
  const isRejection = (line: string) => line.includes("agent has no valid identity");
  await agent.log.until(() => agent.log.lines.some(isRejection), "the rejection");
  return agent.log.lines.find(isRejection) ?? "";
}

/** As an operator does who copies it from the hub. */
async function giveToken(namespace: string, data: Readonly<Record<string, string>>): Promise<void> {
  const ref = { namespace, name: "flotilla-bootstrap" };
  await rest.patch(secrets, ref, { type: "merge", body: { data } });
}

describe("a cluster that enrols", () => {
  test("becomes a Cluster with the name and the labels that it requests, except reserved ones", async () => {
    const labels = JSON.stringify({ env: "prod", "fleet.cattle.io/mine": "no" });
    await createBootstrap(rest, "agent-eu", token, {
      clusterName: "eu",
      clientID: "client-eu",
      labels,
    });
    const agent = startInProcessAgent(rest, "agent-eu");
    await waitUntilConnected(hub, "eu");

    const cluster = clusterOf(hub, "eu");
    assert.equal(cluster?.spec.clientID, "client-eu");
    assert.deepEqual(cluster.metadata.labels, { env: "prod" });
    await agent.stop();
  });

  test("is named after its own UID when it requests no name", async () => {
    await createBootstrap(rest, "agent-nameless", token, {});
    const agent = startInProcessAgent(rest, "agent-nameless");
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
    const before = await startEnrolledAgent(rest, hub, token, "crash");
    await before.stop();
    const uid = clusterOf(hub, "crash")?.metadata.uid;
    const ref = { namespace: "agent-crash", name: "flotilla-identity" };
    const secret = await rest.get(secrets, ref);
    assert.ok(secret?.data?.["tls.key"]);
    await rest.replace(secrets, { ...secret, data: { "tls.key": secret.data["tls.key"] } });

    const after = startInProcessAgent(rest, "agent-crash");
    await hub.until(() => clusterOf(hub, "crash")?.status?.agent?.epoch === 2, "it is back");

    assert.equal(clusterOf(hub, "crash")?.metadata.uid, uid);
    await after.stop();
  });

  test("reconnects with its key only when its certificate has expired and its token is deleted", async () => {
    const own = await createToken(rest, hub, "short-lived");
    const before = await startEnrolledAgent(rest, hub, own, "away");
    await before.stop();
    await rest.delete(clusterRegistrationTokens, { namespace: workspace, name: "short-lived" });
    await rest.delete(secrets, { namespace: "agent-away", name: "flotilla-bootstrap" });
    await hub.until(
      () => hub.tokens.store.get(`${workspace}/short-lived`) === undefined,
      "the token is deleted",
    );

    const inTwoDays = createFakeClock(Date.now() + 48 * 3_600_000);
    const after = startInProcessAgent(rest, "agent-away", { clock: inTwoDays });
    await hub.until(() => clusterOf(hub, "away")?.status?.agent?.epoch === 2, "it is back");

    await after.stop();
  });

  test("renews its certificate in time, over its connection", async () => {
    await hub.stop();
    const brief = await startInProcessHub(rest, { port: hub.port, certificateLifetimeMs: 9_000 });
    const agent = await startEnrolledAgent(rest, brief, token, "renews");

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

describe("a cluster that is rejected", () => {
  test("with a wrong token logs why, once, and so does the hub", async () => {
    const next = await startInProcessHub(rest);
    const wrong = { ...(await createToken(rest, next, "right")), ...encoded({ token: "made.up" }) };
    await createBootstrap(rest, "agent-wrong", wrong, {
      clusterName: "wrong",
      clientID: "client-wrong",
    });
    const clock = createFakeClock(Date.now());
    const agent = startInProcessAgent(rest, "agent-wrong", { clock });

    assert.match(
      await refusalOf(agent),
      /registration token is not one of this hub, or it expired and was deleted; create a new/,
    );
    await clock.advance(2_000);
    await agent.log.until(
      () => agent.log.lines.filter((line) => line.includes("no valid identity")).length >= 2,
      "another attempt",
    );

    assert.equal(agent.log.lines.filter((line) => line.includes('"level":40')).length, 1);
    assert.equal(next.log.lines.filter((line) => line.includes("rejected an enrolment")).length, 1);
    assert.equal(clusterOf(next, "wrong"), undefined);
    await agent.stop();
    await next.stop();
  });

  test("with an expired token logs why", async () => {
    const clock = createFakeClock(Date.now());
    const next = await startInProcessHub(rest, { clock });
    const ended = await createToken(rest, next, "ends", { ttl: "30s" });
    const expires = next.tokens.store.get(`${workspace}/ends`)?.status?.expires;
    // It counts from the API server's clock, which has gone on since the hub's was made.
    await clock.advance(Date.parse(expires ?? "") - clock.now() + 1_000);
    await createBootstrap(rest, "agent-late", ended, {
      clusterName: "late",
      clientID: "client-late",
    });

    const agent = startInProcessAgent(rest, "agent-late", { clock: createFakeClock(Date.now()) });

    assert.match(
      await refusalOf(agent),
      /registration token .*(expired at|is not one of this hub, or it expired) .*; create a new/,
    );
    await next.until(
      () => next.tokens.store.get(`${workspace}/ends`) === undefined,
      "the token is deleted",
    );
    await agent.stop();
    await next.stop();
  });

  test("with another key than the one that its client id registered with, with an Event on the Cluster", async () => {
    const next = await startInProcessHub(rest);
    const fresh = await createToken(rest, next, "second");
    const owner = await startEnrolledAgent(rest, next, fresh, "owned");
    const { uid } = clusterOf(next, "owned")?.metadata ?? {};
    await createBootstrap(rest, "agent-thief", fresh, {
      clusterName: "owned",
      clientID: "client-owned",
    });

    const thief = startInProcessAgent(rest, "agent-thief", { clock: createFakeClock(Date.now()) });

    assert.match(
      await refusalOf(thief),
      /client-owned is enrolled as Cluster fleet-default\/owned with another key/,
    );
    assert.ok(owner.link.isConnected);
    await thief.stop();
    await owner.stop();
    await next.stop();
    const recorded = await rest.list(events, { namespace: workspace });
    assert.ok(
      recorded.items.some(
        ({ reason, regarding }) => reason === "EnrolmentRejected" && regarding?.uid === uid,
      ),
    );
  });

  test("with a certificate of another authority, or of a deleted Cluster", async () => {
    const next = await startInProcessHub(rest);
    const identity = await enrolRawAgent(rest, await createToken(rest, next, "third"), "foreign");
    const foreign = await openAuthority(await createAuthority(Date.now()), Date.now);
    const { spki } = await readCertificateRequest(await createCertificateRequest(identity.keyPem));
    const { cluster, hubId } = identity;
    const chainPem = await foreign.issueClient({
      identity: { hubId, ...cluster },
      spki,
      lifetimeMs: 3_600_000,
    });

    const forged = openRawStream({ ...identity, chainPem });
    forged.send(hello(identity));
    assert.match(
      await forged.ended,
      /^UNAUTHENTICATED: no valid client certificate that this hub issued/,
    );
    assert.ok(next.log.lines.some((line) => line.includes("rejected an agent's call")));

    const good = openRawStream(identity);
    good.listen();
    good.send(hello(identity));
    await good.until(() => good.received.length > 0, "the welcome");
    await rest.delete(clusters, { namespace: workspace, name: "foreign" });
    assert.match(
      await good.ended,
      /^PERMISSION_DENIED: Cluster fleet-default\/foreign was deleted/,
    );
    const late = openRawStream(identity);
    late.send(hello(identity));
    assert.match(
      await late.ended,
      /^PERMISSION_DENIED: Cluster fleet-default\/foreign does not exist/,
    );
    for (const raw of [forged, good, late]) raw.close();
    await next.stop();
  });
});

describe("an agent that is given another token", () => {
  test("registers with it after its Cluster was deleted, and until then retries with a growing backoff", async () => {
    const next = await startInProcessHub(rest);
    const clock = createFakeClock(Date.now());
    const first = await createToken(rest, next, "before-deletion");
    await createBootstrap(rest, "agent-deleted", first, {
      clusterName: "deleted",
      clientID: "deleted",
    });
    const agent = startInProcessAgent(rest, "agent-deleted", { clock });
    await waitUntilConnected(next, "deleted");
    const uid = clusterOf(next, "deleted")?.metadata.uid;

    await rest.delete(clusters, { namespace: workspace, name: "deleted" });
    for (const waitMs of [300, 600, 1_200, 2_400]) {
      await clock.timer((delayMs) => delayMs === waitMs);
      clock.advanceNow(waitMs);
    }
    await clock.timer((delayMs) => delayMs === 4_800);
    const rejections = agent.log.lines.filter((line) => line.includes("not connected to the hub"));
    assert.equal(rejections.length, 5);
    assert.match(rejections[0] ?? "", /was deleted on the hub; to enrol .*flotilla-bootstrap/);
    assert.match(rejections[1] ?? "", /Cluster fleet-default\/deleted does not exist on this hub/);
    assert.equal(rejections.filter((line) => line.includes('"level":40')).length, 2);
    assert.equal(clusterOf(next, "deleted"), undefined, "its first token opens nothing any more");

    await giveToken("agent-deleted", await createToken(rest, next, "after-deletion"));
    await waitUntilConnected(next, "deleted");

    assert.notEqual(clusterOf(next, "deleted")?.metadata.uid, uid);
    await agent.stop();
    await next.stop();
  });

  test("of a hub that it cannot reach keeps its identity, and logs it", async () => {
    const next = await startInProcessHub(rest);
    const agent = await startEnrolledAgent(
      rest,
      next,
      await createToken(rest, next, "good"),
      "steady",
    );

    const { certificatePem } = await createAuthority(Date.now());
    await giveToken("agent-steady", encoded({ token: "made.up", "ca.crt": certificatePem }));
    const isRejection = (line: string) => line.includes("could not enrol again");
    await agent.log.until(() => agent.log.lines.some(isRejection), "the rejection");

    assert.match(
      agent.log.lines.find(isRejection) ?? "",
      /could not enrol with the hub at .*certificate/,
    );
    assert.ok(agent.link.isConnected);
    assert.equal(clusterOf(next, "steady")?.status?.agent?.epoch, 1);
    await agent.stop();
    await next.stop();
  });
});

describe("the hub's authority", () => {
  test("is the same for all replicas that start at the same time", async () => {
    await createNamespace(rest, "many-replicas");

    const authorities = await Promise.all(
      Array.from({ length: 6 }, () => ensureAuthority(rest, "many-replicas", Date.now(), 1)),
    );

    assert.equal(new Set(authorities.map(({ data }) => data?.["tls.crt"])).size, 1);
  });

  test("rejects a request that is not signed with its own key", async () => {
    const request = await createCertificateRequest(await createAgentKey());
    request[request.length - 1] = (request.at(-1) ?? 0) ^ 1;

    await assert.rejects(readCertificateRequest(request), /invalid certificate request/);
  });
});
