/** An agent that its hub does not know, as a process of its own: what both sides say, and that it comes in once it is mended. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createCertificateRequest } from "@flotilla/agent/identity";
import { createBootstrapSecret, startAgent, waitForAgent } from "@flotilla/cli/fleet";
import { createAuthority, openAuthority } from "@flotilla/hub/authority";
import { readCertificateRequest } from "@flotilla/hub/identity";
import { type RunningProcess, startReaper } from "@flotilla/local/process";
import { apiVersion, clusterRegistrationTokens, clusters } from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { lineInLog } from "../harness/log-file.ts";
import { objectThat } from "../harness/wait.ts";
import type { World } from "./bad-input-fleet.ts";

/** A workspace of its own: what the fleet runs does not go there. */
const workspace = "strangers";
const name = "stranger";
const connectTimeoutMs = 30_000;
const remedy =
  /create a new ClusterRegistrationToken on the hub and copy the content of its Secret/;

export function strangersAreTurnedAway({ fleet }: World): void {
  // The hub's own cluster is the stranger's: it has no agent yet.
  const rest = fleet.hub;
  const hubLog = join(fleet.dir, "logs", "hub.log");
  const agentLog = join(fleet.dir, "logs", "stranger.log");
  let agent: RunningProcess | undefined;

  async function start(): Promise<void> {
    const dataDir = join(fleet.dir, "stranger");
    await mkdir(dataDir, { recursive: true });
    agent = await startAgent({
      cluster: name,
      kubeconfig: fleet.hubPlane.kubeconfig,
      dataDir,
      helm: fleet.helm,
      logFile: agentLog,
      environment: { PATH: process.env["PATH"] ?? "", HOME: fleet.dir },
      reaper,
    });
  }

  /** The data of a new token's Secret. */
  async function newToken(token: string): Promise<Readonly<Record<string, string>>> {
    const ref = { namespace: workspace, name: token };
    await rest.create(clusterRegistrationTokens, {
      apiVersion,
      kind: "ClusterRegistrationToken",
      metadata: ref,
      spec: { ttl: "1h" },
    });
    const secret = await objectThat(rest, secrets, ref, "made", (found) => found !== undefined);
    return secret?.data ?? {};
  }

  /** Changes what the agent is given to enrol with. */
  async function give(data: Readonly<Record<string, string>>, clientId: string): Promise<void> {
    const body = { data: { ...data, clientID: base64(clientId) } };
    const ref = { namespace: agentNamespace, name: "flotilla-bootstrap" };
    await rest.patch(secrets, ref, { type: "merge", body });
  }

  const reaper = startReaper();
  afterAll(async () => {
    await agent?.stop();
    await reaper.release();
  });

  // One after the other: it is one agent.
  describe("an agent", { concurrent: false }, () => {
    test("with a wrong token, then with one that has ended, is told so on both sides, and enrols once it has a good one", async () => {
      await rest.create(namespaces, {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: workspace },
      });
      const good = await newToken("good");
      const wrong = { ...good, token: base64("made.up"), clientID: base64("wrong-one") };
      await createBootstrapSecret(rest, wrong, { clusterName: name, labels: {} });
      await start();

      const refusal = await lineInLog(agentLog, 0, /"warn"/, /no valid identity, retrying/);
      assert.match(refusal, /"ENROLMENT_FAILED".*registration token is not one of this hub/);
      assert.match(refusal, remedy);
      const told = await lineInLog(hubLog, 0, /rejected an enrolment/, /"wrong-one"/);
      assert.match(told, /"warn".*"peer":"127\.0\.0\.1".*"TOKEN_REJECTED".*is not one of this hub/);
      assert.doesNotMatch(refusal + told, /made\.up/);

      const ended = await newToken("ends");
      const ends = { namespace: workspace, name: "ends" };
      // Shortened only now: a token that ends before its Secret was made never has one.
      const body = { spec: { ttl: "1ms" } };
      await rest.patch(clusterRegistrationTokens, ends, { type: "merge", body });
      await objectThat(
        rest,
        clusterRegistrationTokens,
        ends,
        "gone",
        (found) => found === undefined,
      );
      await give(ended, "late-one");
      const late = await lineInLog(hubLog, 0, /rejected an enrolment/, /"late-one"/);
      assert.match(late, /"TOKEN_REJECTED".*(expired at|or it expired and was deleted)/);

      await give(good, "stranger");
      await waitForAgent(rest, workspace, name, connectTimeoutMs);
      await lineInLog(hubLog, 0, /cluster enrolled/, /strangers\/stranger/);
    });

    test("with a certificate of another authority is told so on both sides, and is back once it has its own", async () => {
      await agent?.stop();
      const ref = { namespace: agentNamespace, name: "flotilla-identity" };
      const own = await rest.get(secrets, ref);
      assert.ok(own?.data !== undefined);
      await rest.patch(secrets, ref, {
        type: "merge",
        body: { data: { "tls.crt": base64(await foreignCertificate(own.data)) } },
      });
      await start();

      const refusal = await lineInLog(
        agentLog,
        0,
        /"UNAUTHENTICATED"/,
        /no valid client certificate/,
      );
      assert.match(refusal, /"warn".*that this hub issued.*enrol with a registration token/);
      const told = await lineInLog(hubLog, 0, /rejected an agent's call/, /"AGENT_UNKNOWN"/);
      assert.match(told, /"warn".*"peer":"127\.0\.0\.1:\d+".*no valid client certificate/);

      await agent?.stop();
      await rest.patch(secrets, ref, { type: "merge", body: { data: own.data } });
      const before = await rest.get(clusters, { namespace: workspace, name });
      await start();
      await objectThat(
        rest,
        clusters,
        { namespace: workspace, name },
        "back",
        (cluster) =>
          (cluster?.status?.agent?.epoch ?? 0) > (before?.status?.agent?.epoch ?? 0) &&
          cluster?.status?.agent?.connected === true,
      );
      await agent?.stop();
    });
  });
}

/** For the same key and the same Cluster, from an authority that calls itself what the hub's does. */
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
