import assert from "node:assert/strict";
import { createAgentKey, createCertificateRequest } from "@flotilla/agent/identity/agent-key.ts";
import { createAuthority, openAuthority } from "@flotilla/hub/authority/certificate-authority.ts";
import { hubServerName } from "@flotilla/proto/server-name.ts";
import type { ReadHubMessage } from "@flotilla/proto/service.ts";
import { hubKindsV1, loadFleetV1 } from "@flotilla/proto/testing/fleet-v1.ts";
import {
  authoritySecretName,
  clusterNamespaceName,
  rotationRequestAnnotation,
} from "@flotilla/shared/api/names.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { credentials } from "@grpc/grpc-js";
import { describe, onTestFinished, test } from "vitest";
import { deployedState, deploymentsOf, digest } from "./deployments.ts";
import { bootstrap, encoded, makeToken } from "./enrolled.ts";
import { createNamespace, startHubCluster, workspace } from "./hub-cluster.ts";
import { startAgent } from "./test-agent.ts";
import { startHub } from "./test-hub.ts";
import { startV1Hub } from "./v1-hub.ts";
import { watched } from "./watched.ts";

const rest = await startHubCluster();

/** A client of version 1; its certificate and what it trusts are the caller's to keep. */
function v1Client(
  port: number,
  ca: string,
  own?: { readonly keyPem: string; readonly chainPem: string },
) {
  const Fleet = loadFleetV1();
  const [key, chain] = own ? [Buffer.from(own.keyPem), Buffer.from(own.chainPem)] : [null, null];
  return new Fleet(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(ca), key, chain), {
    "grpc.ssl_target_name_override": hubServerName,
    "grpc.use_local_subchannel_pool": 1,
  });
}

function decoded(data: Readonly<Record<string, string>>, key: string): string {
  return Buffer.from(data[key] ?? "", "base64").toString();
}

/** The kind of what came; `undefined` for what version 1 does not know. */
function kindOf(message: ReadHubMessage) {
  return hubKindsV1.find((kind) => message[kind] !== null && message[kind] !== undefined);
}

describe("an agent of version 1", () => {
  test("enrols with a hub of version 2, is served in full, and is sent nothing that it does not know", async () => {
    const hub = await startHub(rest);
    const rotating = new AbortController();
    const rotation = hub.rotate(rotating.signal);
    onTestFinished(async () => {
      rotating.abort();
      await rotation;
    });
    const token = await makeToken(rest, hub, "token");
    const ca = decoded(token, "ca.crt");
    const keyPem = await createAgentKey();
    const certificateRequest = Buffer.from(await createCertificateRequest(keyPem));
    const stranger = v1Client(hub.port, ca);
    const enrolled = await new Promise<{ chainPem: string; hubId: string }>((resolve, reject) => {
      stranger.enroll(
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
    stranger.close();
    const client = v1Client(hub.port, ca, { keyPem, chainPem: enrolled.chainPem });
    await createNamespace(rest, clusterNamespaceName(workspace, "one"));

    const watch = watched();
    const came: ReadHubMessage[] = [];
    const stream = client.connect();
    stream.on("data", (message: ReadHubMessage) => {
      came.push(message);
      watch.changed();
    });
    stream.on("error", () => undefined);
    const until = (what: string, isIt: (message: ReadHubMessage) => boolean) =>
      watch.until(() => came.some(isIt), what);
    stream.write({
      hello: {
        protocolVersion: 1,
        hubId: enrolled.hubId,
        agentVersion: "0.1",
        agentNamespace: "a",
      },
    });
    await until("synced", ({ synced }) => Boolean(synced));
    assert.equal(came[0]?.welcome?.protocolVersion, 1);

    const deployments = deploymentsOf(rest, "one");
    const created = await deployments.create("web", digest("1"));
    const uid = created.metadata.uid ?? "";
    await until("the deployment", ({ deployment }) => deployment?.name === "web");
    stream.write({ received: { name: "web", uid, deploymentId: digest("1") } });
    stream.write({
      state: {
        name: "web",
        uid,
        sequence: "1",
        deploymentId: digest("1"),
        phase: "PHASE_DEPLOYED",
        ready: true,
      },
    });
    await until("the acknowledgement", ({ stateReceived }) => stateReceived?.sequence === "1");
    assert.equal(hub.kept.at(-1)?.state.phase, "deployed");
    await deployments.delete("web");
    await until("the withdrawal", ({ withdrawal }) => withdrawal?.uid === uid);
    stream.write({ withdrawn: { name: "web", uid } });
    await hub.until(
      () => hub.deployments.store.get(deployments.key("web")) === undefined,
      "the tombstone to go",
    );

    const body = { metadata: { annotations: { [rotationRequestAnnotation]: "please" } } };
    const ref = { namespace: "flotilla-system", name: authoritySecretName };
    await rest.patch(secrets, ref, { type: "merge", body });
    const isIntroduced = (line: string) => line.includes("authority rotates");
    await hub.log.until(() => hub.log.lines.some(isIntroduced), "the next authority");
    const renewed = await new Promise<string>((resolve, reject) => {
      client.renew({ certificateRequest }, (error, answer) =>
        answer?.certificate
          ? resolve(answer.certificate.authoritiesPem)
          : reject(error ?? new Error("no certificate")),
      );
    });
    assert.equal(renewed.match(/BEGIN CERTIFICATE/g)?.length, 2, "it learns of both by renewal");
    await deployments.create("last", digest("2"));
    await until(
      "what comes after the rotation began",
      ({ deployment }) => deployment?.name === "last",
    );
    assert.deepEqual(
      came.filter((message) => kindOf(message) === undefined),
      [],
    );

    client.close();
    await hub.stop();
  });
});

describe("an agent of version 2", () => {
  test("is served in full by a hub of version 1, and renews there", async (context) => {
    const authority = await openAuthority(await createAuthority(Date.now()), Date.now);
    const hub = await startV1Hub(authority, 4_000);
    context.onTestFinished(hub.close);
    const data = encoded({
      address: `127.0.0.1:${hub.port}`,
      "ca.crt": authority.authoritiesPem,
      token: "any",
    });
    await bootstrap(rest, "agent-v2", data, {});
    const agent = startAgent(rest, "agent-v2");
    const heardLast = (isIt: (message: (typeof hub.heard)[number]) => boolean) => () =>
      hub.heard.some(isIt);

    await hub.until(
      heardLast(({ hello }) => hello?.protocolVersion === 1),
      "its Hello",
    );
    hub.say({
      deployment: { name: "web", uid: "u", deploymentId: digest("1"), content: Buffer.from("c") },
    });
    await hub.until(
      heardLast(({ received }) => received?.deploymentId === digest("1")),
      "it to have stored the deployment",
    );
    agent.link.outbox.report(deployedState({ name: "web", uid: "u" }));
    await hub.until(
      heardLast(({ state }) => state?.phase === "PHASE_DEPLOYED"),
      "its report",
    );
    hub.say({ withdrawal: { name: "web", uid: "u" } });
    await hub.until(
      heardLast(({ withdrawn }) => withdrawn?.uid === "u"),
      "the withdrawal",
    );
    await hub.until(
      () => hub.renewals > 0 && hub.heard.filter(({ hello }) => hello).length >= 2,
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
