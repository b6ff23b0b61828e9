import assert from "node:assert/strict";
import { runSession } from "@flotilla/agent/link";
import { createOutbox } from "@flotilla/agent/observe";
import { createHubConnector } from "@flotilla/agent/state";
import { ensureAuthority, openAuthority, readRecord } from "@flotilla/hub/link";
import { type FleetHandlers, hubMessageToWire, loadFleetService } from "@flotilla/proto";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { systemClock } from "@flotilla/shared/time";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { testLog } from "../harness/change-signal.ts";
import { createNamespace, startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { startInProcessAgent } from "../harness/in-process-agent.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import { createBootstrap, createToken, waitUntilConnected } from "../harness/registration.ts";
import { deploymentsOf, sha256 } from "./deployments.ts";
import { enrolRawAgent, hello, openRawStream } from "./raw-agent.ts";

const rest = await startHubControlPlane();
/** More than the window of a stream that is not read. */
const contentBytes = 256 * 1024;
let contentsPacked = 0;
const hub = await startInProcessHub(rest, {
  content(id) {
    contentsPacked += 1;
    return Buffer.alloc(contentBytes, id.slice(-8));
  },
});
const token = await createToken(rest, hub, "token");

describe("a stream", () => {
  test("that is not read queues one entry for each deployment, and then gets the latest", async () => {
    const identity = await enrolRawAgent(rest, token, "slow");
    await createNamespace(rest, clusterNamespaceName(workspace, "slow"));
    const deployments = deploymentsOf(rest, "slow");
    const raw = openRawStream(identity);
    raw.listen();
    raw.send(hello(identity));
    await raw.until(() => raw.received.length === 2, "welcome and synced");
    raw.stream.pause();
    const names = ["a", "b", "c", "d", "e"];
    const changes = 60;
    await Promise.all(
      names.map(async (name) => {
        await deployments.create(name, sha256("0"));
        for (let change = 1; change <= changes; change += 1)
          await deployments.change(name, { deploymentID: sha256(String(change)) });
      }),
    );
    const latest = sha256(String(changes));
    const isLatest = (name: string) =>
      hub.deployments.store.get(deployments.key(name))?.spec.deploymentID === latest;
    await hub.until(() => names.every(isLatest), "the hub knows the latest");
    // grpc-js buffers sixteen messages for its reader, and some are in flight. A message is packed when it is sent, so that
    // others take no memory.
    const ahead = 20;
    assert.ok(contentsPacked <= ahead, `${contentsPacked} contents were packed without a reader`);

    raw.stream.resume();
    const sent = () => raw.received.filter((message) => message.kind === "deployment");
    const lastOf = (name: string) => sent().findLast(({ deployment }) => deployment.name === name);
    await raw.until(
      () => names.every((name) => lastOf(name)?.deploymentId === latest),
      "the latest of all",
    );

    const count = sent().length;
    assert.ok(count <= ahead + names.length, `${count} messages for ${names.length} deployments`);
    raw.close();
  });

  test("is ended by a newer one of the same cluster", async () => {
    const identity = await enrolRawAgent(rest, token, "twice");
    const older = openRawStream(identity);
    older.listen();
    older.send(hello(identity));
    await older.until(() => older.received.length >= 2, "welcome and synced");

    const newer = openRawStream(identity);
    newer.listen();
    newer.send(hello(identity));

    assert.match(
      await older.ended,
      /^ABORTED: another agent connected as Cluster fleet-default\/twice/,
    );
    await newer.until(() => newer.received.length >= 2, "welcome and synced");
    const epochs = [older, newer].map(
      ({ received: [welcome] }) => welcome?.kind === "welcome" && welcome.epoch,
    );
    assert.deepEqual(epochs, [1, 2]);
    older.close();
    newer.close();
  });

  test("begins when another agent of the process with the same handshake slot is welcomed", async () => {
    const place = createSemaphore(1);
    const agents = ["first", "second", "third"].map(async (name) => {
      const namespace = `agent-${name}`;
      await createBootstrap(rest, namespace, token, {
        clusterName: name,
        clientID: `client-${name}`,
      });
      return startInProcessAgent(rest, namespace, { handshakes: place });
    });
    for (const name of ["first", "second", "third"]) await waitUntilConnected(hub, name);
    for (const agent of await Promise.all(agents)) await agent.stop();
  });

  test("is ended with a message when the contract is violated", async () => {
    const identity = await enrolRawAgent(rest, token, "broken");
    const cases = [
      [
        [{ kind: "withdrawn", deployment: { name: "a", uid: "b" } }],
        /the first message is not Hello/,
      ],
      [[hello(identity), hello(identity)], /a second Hello/],
      [
        [{ ...hello(identity), versions: { oldest: 98, newest: 99 } }],
        /^FAILED_PRECONDITION: the agent supports versions 98 to 99 .* upgrade the hub$/,
      ],
      [
        [hello(identity, "other")],
        /^FAILED_PRECONDITION: the agent is enrolled with hub other, .* nothing was changed/,
      ],
      [[{ kind: "withdrawn", deployment: { name: "", uid: "" } }], /withdrawn.name is empty/],
    ] as const;
    for (const [messages, expected] of cases) {
      const raw = openRawStream(identity);
      raw.listen();
      for (const message of messages) raw.send(message);
      assert.match(await raw.ended, expected);
      raw.close();
    }
  });
});

describe("an agent that reaches another hub", () => {
  test("disconnects without changing anything, and logs it", async (context) => {
    const secret = await ensureAuthority(rest, "flotilla-system", Date.now(), 1);
    const authority = await openAuthority(readRecord(secret).signing, Date.now);
    const serving = await authority.issueServing(["127.0.0.1"], 3_600_000);
    const server = new Server();
    context.onTestFinished(() => server.forceShutdown());
    const { service } = loadFleetService();
    server.addService(service, {
      Connect(call) {
        call.write(
          hubMessageToWire({
            kind: "welcome",
            protocolVersion: 1,
            hubId: "other",
            epoch: 1,
            hubVersion: "test",
          }),
        );
        call.write(hubMessageToWire({ kind: "withdrawal", deployment: { name: "web", uid: "u" } }));
      },
    } satisfies Pick<FleetHandlers, "Connect">);
    const port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createSsl(null, [
        { private_key: Buffer.from(serving.keyPem), cert_chain: Buffer.from(serving.chainPem) },
      ]);
      server.bindAsync("127.0.0.1:0", credentials, (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    const client = createHubConnector()({
      address: `127.0.0.1:${port}`,
      authoritiesPem: authority.authoritiesPem,
    });
    const touched: string[] = [];

    const end = await runSession({
      stream: client.connect(),
      hubId: "mine",
      agentVersion: "test",
      agentNamespace: "test",
      authoritiesDigest: "",
      setAuthorities: () => Promise.resolve(void touched.push("trust")),
      intake: {
        deployments: () => [],
        states: () => [],
        assign: () => Promise.resolve(touched.push("assign") > 0),
        withdraw: () => Promise.resolve(touched.push("withdraw") > 0),
        synced: () => Promise.resolve(void touched.push("synced")),
        clusterInfoDigest: () => undefined,
        setClusterInfo: () => Promise.resolve(touched.push("info") > 0),
        referencedObjects: () => [],
        setReferencedObject: () => Promise.resolve(touched.push("object") > 0),
        withdrawReferencedObject: () => Promise.resolve(void touched.push("drop")),
      },
      outbox: createOutbox(),
      answer: () => Promise.reject(new Error("not asked")),
      clock: systemClock,
      log: testLog().log,
      signal: new AbortController().signal,
    });
    client.close();

    assert.equal(end.code, "WRONG_HUB");
    assert.match(
      end.message,
      /leads to hub other, but this agent belongs to hub mine; nothing was changed/,
    );
    assert.deepEqual(touched, []);
  });
});
