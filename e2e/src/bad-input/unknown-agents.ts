/** An agent without valid credentials, as a process of its own: both sides log why, and it connects once it has valid ones. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createCertificateRequest } from "@flotilla/agent/state";
import { createBootstrapSecret, waitForAgent } from "@flotilla/cli/fleet";
import { createAuthority, openAuthority, readCertificateRequest } from "@flotilla/hub/link";
import { startReaper } from "@flotilla/local/process";
import { apiVersion, clusterRegistrationTokens, clusters } from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { hangMs } from "../harness/hang.ts";
import { lineInLog } from "../harness/log-file.ts";
import { type AgentProcess, startAgentProcess } from "../harness/processes.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import type { BadInputFleet } from "./bad-input-fleet.ts";

/** A workspace of its own, so that no HelmOp of the fleet targets it. */
const workspace = "unknown-agents";
const name = "unknown";
const remedy =
  /create a new ClusterRegistrationToken on the hub and copy the content of its Secret/;

export function testUnknownAgents({ fleet }: BadInputFleet): void {
  // The agent runs in the hub's own cluster, which has no agent yet.
  const { hub, hubLog } = fleet;
  const agentLog = join(fleet.dir, "logs", `${name}-agent.log`);
  let agent: AgentProcess | undefined;

  async function start(): Promise<void> {
    if (agent !== undefined) return agent.start();
    const environment = { PATH: process.env["PATH"] ?? "", HOME: fleet.dir };
    const { kubeconfig } = fleet.hubPlane;
    const { dir, helm } = fleet;
    agent = await startAgentProcess({ dir, environment, reaper }, { name, kubeconfig, helm });
  }

  /** The data of a new token's Secret. */
  async function newToken(token: string): Promise<Readonly<Record<string, string>>> {
    const ref = { namespace: workspace, name: token };
    await hub.create(clusterRegistrationTokens, {
      apiVersion,
      kind: "ClusterRegistrationToken",
      metadata: ref,
      spec: { ttl: "1h" },
    });
    const secret = await waitForObject(hub, secrets, ref, "created", () => true);
    return secret.data ?? {};
  }

  /** Changes the agent's bootstrap Secret. */
  async function setBootstrap(
    data: Readonly<Record<string, string>>,
    clientId: string,
  ): Promise<void> {
    const body = { data: { ...data, clientID: base64(clientId) } };
    const ref = { namespace: agentNamespace, name: "flotilla-bootstrap" };
    await hub.patch(secrets, ref, { type: "merge", body });
  }

  const reaper = startReaper();
  afterAll(async () => {
    await agent?.stop();
    await reaper.release();
  });

  // One after the other, because it is one agent.
  describe("an agent", { concurrent: false }, () => {
    test("with a wrong token, then with an expired one, is rejected with the reason on both sides, and registers once it has a valid one", async () => {
      await hub.create(namespaces, {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: workspace },
      });
      const good = await newToken("good");
      const wrong = { ...good, token: base64("made.up"), clientID: base64("wrong-one") };
      await createBootstrapSecret(hub, wrong, { clusterName: name, labels: {} });
      await start();

      const warning = await lineInLog(agentLog, 0, /"warn"/, /no valid identity, retrying/);
      assert.match(warning, /"ENROLMENT_FAILED".*registration token is not one of this hub/);
      assert.match(warning, remedy);
      const logged = await lineInLog(hubLog, 0, /rejected an enrolment/, /"wrong-one"/);
      assert.match(
        logged,
        /"warn".*"peer":"127\.0\.0\.1".*"TOKEN_REJECTED".*is not one of this hub/,
      );
      assert.doesNotMatch(warning + logged, /made\.up/);

      const expired = await newToken("expires");
      const expires = { namespace: workspace, name: "expires" };
      // Shortened only now: a token that expires before its Secret is created never has one.
      const body = { spec: { ttl: "1ms" } };
      await hub.patch(clusterRegistrationTokens, expires, { type: "merge", body });
      await waitUntilGone(hub, clusterRegistrationTokens, expires);
      await setBootstrap(expired, "late-one");
      const late = await lineInLog(hubLog, 0, /rejected an enrolment/, /"late-one"/);
      assert.match(late, /"TOKEN_REJECTED".*(expired at|or it expired and was deleted)/);

      await setBootstrap(good, "unknown");
      await waitForAgent(hub, workspace, name, hangMs);
      await lineInLog(hubLog, 0, /cluster enrolled/, /unknown-agents\/unknown/);
    });

    test("with a certificate of another authority is rejected with the reason on both sides, and connects once it has its own again", async () => {
      await agent?.stop();
      const ref = { namespace: agentNamespace, name: "flotilla-identity" };
      const own = await hub.reader.get(secrets, ref);
      assert.ok(own?.data !== undefined);
      await hub.patch(secrets, ref, {
        type: "merge",
        body: { data: { "tls.crt": base64(await foreignCertificate(own.data)) } },
      });
      await start();

      const warning = await lineInLog(
        agentLog,
        0,
        /"UNAUTHENTICATED"/,
        /no valid client certificate/,
      );
      assert.match(warning, /"warn".*that this hub issued.*enrol with a registration token/);
      const logged = await lineInLog(hubLog, 0, /rejected an agent's call/, /"AGENT_UNKNOWN"/);
      assert.match(logged, /"warn".*"peer":"127\.0\.0\.1:\d+".*no valid client certificate/);

      await agent?.stop();
      await hub.patch(secrets, ref, { type: "merge", body: { data: own.data } });
      const before = await hub.reader.get(clusters, { namespace: workspace, name });
      await start();
      await waitForObject(
        hub,
        clusters,
        { namespace: workspace, name },
        "back",
        (cluster) =>
          (cluster.status?.agent?.epoch ?? 0) > (before?.status?.agent?.epoch ?? 0) &&
          cluster.status?.agent?.connected === true,
      );
      await agent?.stop();
    });
  });
}

/** For the same key and the same Cluster, from another authority with the same name as that of the hub. */
async function foreignCertificate(identity: Readonly<Record<string, string>>): Promise<string> {
  const read = (key: string): string => Buffer.from(identity[key] ?? "", "base64").toString();
  const authority = await openAuthority(await createAuthority(Date.now()), Date.now);
  const { spki } = await readCertificateRequest(await createCertificateRequest(read("tls.key")));
  return authority.issueClient({
    identity: {
      hubId: read("hubID"),
      namespace: read("clusterNamespace"),
      name: read("clusterName"),
      uid: read("clusterUID"),
    },
    spki,
    lifetimeMs: 3_600_000,
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
