import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { identityInNames, openAuthority, readRecord } from "@flotilla/hub/link";
import { authoritySecretName, rotationRequestAnnotation } from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { events, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, describe, test } from "vitest";
import { startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { type InProcessAgent, startInProcessAgent } from "../harness/in-process-agent.ts";
import { type InProcessHub, startInProcessHub } from "../harness/in-process-hub.ts";
import {
  clusterOf,
  createBootstrap,
  createToken,
  encoded,
  startEnrolledAgent,
  waitUntilConnected,
} from "../harness/registration.ts";
import { waitForObject } from "../harness/wait.ts";
import { deploymentsOf, sha256 } from "./deployments.ts";

const rest = await startHubControlPlane();
const lifetimeMs = 6_000;
const first = await startInProcessHub(rest, { certificateLifetimeMs: lifetimeMs });
const second = await startInProcessHub(rest, {
  replica: "hub-1",
  leads: false,
  certificateLifetimeMs: lifetimeMs,
});
const token = await createToken(rest, first, "token");
const authorityRef = { namespace: "flotilla-system", name: authoritySecretName };

const rotating = new AbortController();
// Both run the controllers of the leader.
const rotations = [first, second].map(({ rotateAuthority }) => rotateAuthority(rotating.signal));
afterAll(async () => {
  rotating.abort();
  await Promise.all(rotations);
});

function textOf(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? "", "base64").toString();
}

async function authority(): Promise<Secret> {
  const secret = await rest.get(secrets, authorityRef);
  assert.ok(secret);
  return secret;
}

async function requestRotation(request: string): Promise<void> {
  const body = { metadata: { annotations: { [rotationRequestAnnotation]: request } } };
  await rest.patch(secrets, authorityRef, { type: "merge", body });
}

/** Waits until the leader has logged a step. */
async function step(reason: string): Promise<void> {
  const logged = (hub: InProcessHub) =>
    hub.log.lines.some((line) => line.includes("authority rotates") && line.includes(reason));
  // Either of the two may have been first.
  await Promise.race([first, second].map((hub) => hub.log.until(() => logged(hub), reason)));
}

/** The issuer of the certificate of a port. */
async function issuerOf(port: number, authorities: readonly string[]): Promise<number> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  try {
    await new Promise((resolve, reject) =>
      socket.once("secureConnect", resolve).once("error", reject),
    );
    const shown = new X509Certificate(socket.getPeerCertificate().raw);
    return authorities.findIndex((pem) => shown.verify(new X509Certificate(pem).publicKey));
  } finally {
    socket.destroy();
  }
}

/** Resolves once the agent has stored these authorities, which it gets over its stream or with a renewed certificate. */
async function trusts({ namespace }: InProcessAgent, authoritiesPem: string): Promise<void> {
  const isStored = (secret: Secret | undefined) =>
    textOf(secret, "ca.crt").trim() === authoritiesPem.trim();
  const ref = { namespace, name: "flotilla-identity" };
  await waitForObject(rest, secrets, ref, "trusting these authorities", isStored);
}

function warnings({ log }: InProcessAgent): readonly string[] {
  return log.lines.filter((line) => /"level":[456]0/.test(line));
}

/** Clusters whose status becomes disconnected from now on. */
function disconnectedClusters(): readonly string[] {
  const disconnected: string[] = [];
  first.clusters.onChange(({ key, after: cluster }) => {
    if (cluster?.status?.agent?.connected === false) disconnected.push(key);
  });
  return disconnected;
}

/** A certificate for the same key and Cluster that expired an hour ago. */
async function expiredFor(certificate: X509Certificate): Promise<string> {
  const { signing } = readRecord(await authority());
  const issuer = await openAuthority(signing, () => Date.now() - 3_600_000);
  const identity = identityInNames(certificate.subjectAltName);
  assert.ok(identity !== undefined);
  const spki = certificate.publicKey.export({ format: "der", type: "spki" });
  return issuer.issueClient({ identity, spki, lifetimeMs });
}

describe("an agent's certificate", () => {
  test("expires when a slow clock delays the renewal, which is repeated without an error", async () => {
    const clock = createFakeClock(Date.now());
    await createBootstrap(rest, "agent-behind", token, {
      clusterName: "behind",
      clientID: "behind",
    });
    const agent = startInProcessAgent(rest, "agent-behind", { clock });
    await waitUntilConnected(first, "behind");
    const disconnected = disconnectedClusters();
    await agent.log.until(() => agent.link.isConnected, "the welcome");
    clock.advanceNow(10);

    await first.until(
      () => clusterOf(first, "behind")?.status?.agent?.epoch === 2,
      "it is connected again",
    );

    const isEnd = (line: string) => line.includes("certificate has expired; reconnect");
    assert.equal(agent.log.lines.filter(isEnd).length, 1);
    assert.deepEqual(warnings(agent), []);
    assert.deepEqual(disconnected, []);
    await agent.stop();
  });

  test("that expired while its agent was stopped is issued again for its key, also when it is valid by the clock of the agent", async () => {
    const before = await startEnrolledAgent(rest, first, token, "slow");
    await before.stop();
    const ref = { namespace: before.namespace, name: "flotilla-identity" };
    const shown = new X509Certificate(textOf(await rest.get(secrets, ref), "tls.crt"));
    const expired = await expiredFor(shown);
    const data = encoded({ "tls.crt": expired });
    await rest.patch(secrets, ref, { type: "merge", body: { data } });
    const clock = createFakeClock(new X509Certificate(expired).validFromDate.getTime() + 1_000);

    const agent = startInProcessAgent(rest, before.namespace, { clock });
    await agent.log.until(() => agent.link.isConnected, "the welcome");

    assert.equal(clusterOf(first, "slow")?.status?.agent?.epoch, 2);
    const [warning, ...others] = warnings(agent);
    assert.match(warning ?? "", /no valid client certificate that this hub issued/);
    assert.deepEqual(others, []);
    await agent.stop();
  });
});

describe("the hub's authority is rotated", () => {
  test("while agents are connected to several replicas, and none is reported as disconnected", async () => {
    const here = await startEnrolledAgent(rest, first, token, "here");
    const there = { ...token, ...encoded({ address: `127.0.0.1:${second.port}` }) };
    await createBootstrap(rest, "agent-there", there, {
      clusterName: "there",
      clientID: "client-there",
    });
    const other = startInProcessAgent(rest, "agent-there");
    await waitUntilConnected(second, "there");
    const leaves = await startEnrolledAgent(rest, first, token, "leaves");
    const absent = await startEnrolledAgent(rest, first, token, "absent");
    await absent.stop();
    const disconnected = disconnectedClusters();
    const old = textOf(await authority(), "tls.crt");

    await requestRotation("please");
    await step("introduce");
    const next = textOf(await authority(), "next.crt");
    const both = `${old.trim()}\n${next.trim()}\n`;
    for (const agent of [here, other, leaves]) {
      await trusts(agent, both);
    }
    assert.equal(await issuerOf(first.port, [old, next]), 0);
    await leaves.stop();

    await step("switch");
    for (const { log, port } of [first, second]) {
      const isShown = (line: string) => line.includes("serving certificate is signed by the new");
      await log.until(() => log.lines.some(isShown), "the new authority's certificate");
      assert.equal(await issuerOf(port, [old, next]), 1);
    }
    await step("retire");
    await Promise.all([here, other].map((agent) => trusts(agent, next)));

    const now = await authority();
    assert.equal(textOf(now, "tls.crt"), next);
    assert.deepEqual(Object.keys(now.data ?? {}).toSorted(), ["tls.crt", "tls.key"]);
    for (const agent of [here, other]) assert.deepEqual(warnings(agent), []);
    assert.deepEqual(
      disconnected.filter((key) => /here/.test(key)),
      [],
      "no agent was reported as disconnected",
    );
    await deploymentsOf(rest, "here").create("web", sha256("1"));
    await here.until(() => here.assigned.length === 1, "the deployment");

    // It trusts both authorities and its certificate has expired: it is authenticated by its key.
    const back = startInProcessAgent(rest, leaves.namespace);
    await waitUntilConnected(first, "leaves");
    assert.deepEqual(warnings(back), []);

    // It was stopped during the rotation.
    const late = startInProcessAgent(rest, absent.namespace, {
      clock: createFakeClock(Date.now()),
    });
    await late.log.until(() => warnings(late).length > 0, "its complaint");
    assert.match(
      warnings(late)[0] ?? "",
      /not signed by the authority that this agent trusts.* or rotated it while this agent was offline.*new ClusterRegistrationToken/,
    );
    await late.stop();
    const secret = await rest.get(secrets, { namespace: workspace, name: "token" });
    await rest.patch(
      secrets,
      { namespace: absent.namespace, name: "flotilla-bootstrap" },
      { type: "merge", body: { data: { ...secret?.data } } },
    );
    const uid = clusterOf(first, "absent")?.metadata.uid;
    const again = startInProcessAgent(rest, absent.namespace);
    await waitUntilConnected(first, "absent");
    assert.equal(clusterOf(first, "absent")?.metadata.uid, uid);

    await Promise.all([here, other, back, again].map((agent) => agent.stop()));
    const recorded = await rest.list(events, { namespace: authorityRef.namespace });
    assert.deepEqual(
      recorded.items
        .map(({ reason = "" }) => reason)
        .filter((reason) => reason.startsWith("Authority"))
        .toSorted(),
      ["AuthorityIntroduced", "AuthorityRetired", "AuthoritySwitched"],
    );
  });
});

describe("a certificate whose renewal failed", () => {
  test("is requested again, over the open connection and after a disconnect", async () => {
    let isCut = false;
    const cut: KubeRest = {
      ...rest,
      get: (resource, ref, options) =>
        isCut && ref.name === authoritySecretName
          ? Promise.reject(new Error("cut"))
          : rest.get(resource, ref, options),
    };
    const hubClock = createFakeClock(Date.now());
    const replica = { replica: "hub-2", leads: false, certificateLifetimeMs: 60_000 };
    const hub = await startInProcessHub(cut, { ...replica, clock: hubClock });
    const data = {
      ...(await rest.get(secrets, { namespace: workspace, name: "token" }))?.data,
      ...encoded({ address: `127.0.0.1:${hub.port}` }),
    };
    const clock = createFakeClock(Date.now());
    await createBootstrap(rest, "agent-asks", data, { clusterName: "asks", clientID: "asks" });
    const agent = startInProcessAgent(rest, "agent-asks", { clock });
    await waitUntilConnected(hub, "asks");
    await agent.log.until(() => agent.link.isConnected, "the welcome");
    const renewals = (many: number) =>
      agent.log.until(
        () =>
          agent.log.lines.filter((line) => line.includes("certificate renewed")).length === many,
        `${many} renewals`,
      );

    // A hub that cannot confirm its authority issues no certificate.
    isCut = true;
    hubClock.advanceNow(1_000);
    clock.advanceNow(40_000);
    const isFailure = (line: string) => line.includes("certificate renewal failed");
    await agent.log.until(() => agent.log.lines.some(isFailure), "the failed renewal");
    assert.ok(agent.link.isConnected);
    isCut = false;
    clock.advanceNow(await clock.timer((delayMs) => delayMs === 3_750));
    await renewals(1);
    await hub.until(
      () => (clusterOf(hub, "asks")?.status?.agent?.epoch ?? 0) === 2,
      "it is connected again",
    );

    await hub.stop();
    await clock.timer((delayMs) => delayMs > 0 && delayMs < 1_000);
    clock.freeze(50_000);
    const again = await startInProcessHub(rest, { ...replica, port: hub.port });
    clock.advanceNow(0);
    await again.until(
      () => clusterOf(again, "asks")?.status?.agent?.epoch === 3,
      "it is connected again",
    );
    clock.advanceNow(await clock.timer((delayMs) => delayMs <= 0));
    await renewals(2);
    await agent.stop();
    await again.stop();
  });
});
