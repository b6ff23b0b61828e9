import assert from "node:assert/strict";
import { createAgentKey, createCertificateRequest } from "@flotilla/agent/state";
import { createAuthority, openAuthority } from "@flotilla/hub/link";
import { hubServerName, type ReadHubMessage, supportedVersions } from "@flotilla/proto";
import { addedField, loadNextVersion, nextVersions } from "@flotilla/proto/testing";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { credentials } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { createChangeSignal } from "../harness/change-signal.ts";
import { createNamespace, startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import { createBootstrap, createToken, encoded } from "../harness/registration.ts";
import { deployedState, deploymentsOf, sha256 } from "./deployments.ts";
import { startNextVersionHub } from "./next-version-hub.ts";

const rest = await startHubControlPlane();

/** A client of the next version; the caller keeps its certificate and authorities. */
function nextClient(
  port: number,
  ca: string,
  own?: { readonly keyPem: string; readonly chainPem: string },
) {
  const Fleet = loadNextVersion();
  const [key, chain] = own ? [Buffer.from(own.keyPem), Buffer.from(own.chainPem)] : [null, null];
  return new Fleet(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(ca), key, chain), {
    "grpc.ssl_target_name_override": hubServerName,
    "grpc.use_local_subchannel_pool": 1,
  });
}

function decoded(data: Readonly<Record<string, string>>, key: string): string {
  return Buffer.from(data[key] ?? "", "base64").toString();
}

describe("an agent of the next version", () => {
  test("enrols with a hub of this version and is served in full, in this version", async () => {
    const hub = await startInProcessHub(rest);
    const token = await createToken(rest, hub, "token");
    const ca = decoded(token, "ca.crt");
    const keyPem = await createAgentKey();
    const certificateRequest = Buffer.from(await createCertificateRequest(keyPem));
    const unregistered = nextClient(hub.port, ca);
    const enrolled = await new Promise<{ chainPem: string; hubId: string }>((resolve, reject) => {
      unregistered.enroll(
        {
          token: decoded(token, "token"),
          certificateRequest,
          clientId: "client-one",
          clusterName: "one",
        },
        (error, answer) =>
          answer?.certificate
            ? resolve({ chainPem: answer.certificate.chainPem, hubId: answer.hubId })
            : reject(error ?? new Error("no certificate")),
      );
    });
    unregistered.close();
    const client = nextClient(hub.port, ca, { keyPem, chainPem: enrolled.chainPem });
    await createNamespace(rest, clusterNamespaceName(workspace, "one"));

    const watch = createChangeSignal();
    const received: ReadHubMessage[] = [];
    const stream = client.connect();
    stream.on("data", (message: ReadHubMessage) => {
      received.push(message);
      watch.changed();
    });
    stream.on("error", () => undefined);
    const until = (what: string, isIt: (message: ReadHubMessage) => boolean) =>
      watch.until(() => received.some(isIt), what);
    const hello = {
      oldestProtocolVersion: nextVersions.oldest,
      newestProtocolVersion: nextVersions.newest,
      hubId: enrolled.hubId,
      agentVersion: "next",
      agentNamespace: "a",
    };
    stream.write({ hello: { ...hello, ...addedField } });
    await until("synced", ({ synced }) => Boolean(synced));
    assert.equal(received[0]?.welcome?.protocolVersion, supportedVersions.newest);

    const deployments = deploymentsOf(rest, "one");
    const created = await deployments.create("web", sha256("1"));
    const uid = created.metadata.uid ?? "";
    await until("the deployment", ({ deployment }) => deployment?.name === "web");
    stream.write({ deploymentAck: { name: "web", uid, deploymentId: sha256("1") } });
    stream.write({
      state: {
        name: "web",
        uid,
        sequence: "1",
        deploymentId: sha256("1"),
        phase: "PHASE_DEPLOYED",
        ready: true,
      },
    });
    await until("the acknowledgement", ({ stateAck }) => stateAck?.sequence === "1");
    assert.equal(hub.reports.at(-1)?.state.phase, "deployed");
    await deployments.delete("web");
    await until("the withdrawal", ({ withdrawal }) => withdrawal?.uid === uid);
    stream.write({ withdrawn: { name: "web", uid } });
    await hub.until(
      () => hub.deployments.store.get(deployments.key("web")) === undefined,
      "the tombstone to be deleted",
    );

    client.close();
    await hub.stop();
  });
});

describe("an agent of this version", () => {
  test("is served in full by a hub of the next version, and renews there", async (context) => {
    const authority = await openAuthority(await createAuthority(Date.now()), Date.now);
    const hub = await startNextVersionHub(authority, 4_000);
    context.onTestFinished(hub.close);
    const data = encoded({
      address: `127.0.0.1:${hub.port}`,
      "ca.crt": authority.authoritiesPem,
      token: "any",
    });
    await createBootstrap(rest, "agent-one", data, {});
    const agent = startInProcessAgent(rest, "agent-one");
    const hasReceived = (isIt: (message: (typeof hub.received)[number]) => boolean) => () =>
      hub.received.some(isIt);

    await hub.until(
      hasReceived(({ hello }) => hello?.newestProtocolVersion === supportedVersions.newest),
      "its Hello",
    );
    const deployment = {
      name: "web",
      uid: "u",
      deploymentId: sha256("1"),
      content: Buffer.from("c"),
      ...addedField,
    };
    hub.send({ deployment });
    await hub.until(
      hasReceived(({ deploymentAck }) => deploymentAck?.deploymentId === sha256("1")),
      "the acknowledgement of the deployment",
    );
    agent.link.outbox.report(deployedState({ name: "web", uid: "u" }));
    await hub.until(
      hasReceived(({ state }) => state?.phase === "PHASE_DEPLOYED"),
      "its report",
    );
    hub.send({ withdrawal: { name: "web", uid: "u" } });
    await hub.until(
      hasReceived(({ withdrawn }) => withdrawn?.uid === "u"),
      "the withdrawal",
    );
    await hub.until(
      () => hub.renewals > 0 && hub.received.filter(({ hello }) => hello).length >= 2,
      "the stream with the renewed certificate",
    );

    assert.equal(agent.link.unacknowledged, 0);
    assert.deepEqual(
      agent.log.lines.filter((line) => /"level":[456]0/.test(line)),
      [],
    );
    await agent.stop();
  });
});
