/** A misbehaving agent is rejected, counted and logged once, and does not affect another agent. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createCertificateRequest } from "@flotilla/agent/state";
import {
  type AgentMessage,
  agentMessageToWire,
  loadFleetService,
  maxMessageBytes,
  wireLimits,
} from "@flotilla/proto";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { status } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { createNamespace, startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { startInProcessHub } from "../harness/in-process-hub.ts";
import { clusterOf, createToken, startEnrolledAgent } from "../harness/registration.ts";
import { deployedState, deploymentsOf, sha256 } from "./deployments.ts";
import { enrolRawAgent, hello, openRawStream, type RawStream } from "./raw-agent.ts";
import {
  callWithBytes,
  enrolHalfway,
  enrollPath,
  openAndLeave,
  renewPath,
  resetStreams,
  sendBytes,
  sendNoHttp2,
} from "./raw-bytes.ts";

const rest = await startHubControlPlane();
const hub = await startInProcessHub(rest);
const token = await createToken(rest, hub, "token");
const { Connect: connect, Renew: renew } = loadFleetService().service;

/** The other agent, which is sent one change after the other. */
const other = await startEnrolledAgent(rest, hub, token, "other");
const calmDeployments = deploymentsOf(rest, "other");
const calmUid = (await calmDeployments.create("web", sha256("0"))).metadata.uid ?? "";
let otherChanges = 0;

/** The other agent receives its assignment, its report is stored, and its connection is the same. */
async function assertOtherUnaffected(): Promise<void> {
  otherChanges += 1;
  const deploymentId = sha256(`change-${otherChanges}`);
  const message = `change ${otherChanges}`;
  await calmDeployments.change("web", { deploymentID: deploymentId });
  await other.until(
    () => other.assigned.at(-1)?.deploymentId === deploymentId,
    "the other agent's assignment",
  );
  other.link.outbox.report(deployedState({ name: "web", uid: calmUid }, message));
  await hub.until(
    () =>
      hub.reports.some(({ cluster, state }) => cluster === "other" && state.message === message),
    "the other agent's report",
  );
  assert.equal(clusterOf(hub, "other")?.status?.agent?.epoch, 1);
}

/** Enrols, sends Hello and reads the stream. */
async function welcomed(name: string) {
  const identity = await enrolRawAgent(rest, token, name);
  await createNamespace(rest, clusterNamespaceName(workspace, name));
  const raw = openRawStream(identity);
  raw.listen();
  raw.send(hello(identity));
  await raw.until(() => raw.received.length >= 2, "welcome and synced");
  return { identity, raw };
}

/** Warnings in the hub's log about a cluster. */
function warnings(name: string): readonly string[] {
  return hub.log.lines.filter(
    (line) => line.includes('"level":40') && line.includes(`"cluster":"${workspace}/${name}"`),
  );
}

function state(sequence: number, name: string, uid: string, message = ""): AgentMessage {
  return { kind: "state", sequence, state: deployedState({ name, uid }, message) };
}

/** Without backpressure. */
function flood(raw: RawStream, count: number, message: (at: number) => AgentMessage): void {
  for (let at = 1; at <= count; at += 1) raw.send(message(at));
}

await assertOtherUnaffected();

describe("an agent that floods", () => {
  test("with reports on deployments of another cluster changes none of them, and gets backpressure", async () => {
    const { raw } = await welcomed("made-up");
    raw.stream.pause();
    flood(raw, 20_000, (at) => state(at, at % 2 === 0 ? "web" : `made-${at}`, calmUid, "forged"));

    await assertOtherUnaffected();

    const read = await hub.rejections("unknown_deployment");
    assert.ok(read > 0 && read < 5_000, `${read} of 20,000 were read`);
    assert.ok(!hub.reports.some(({ state }) => state.message === "forged"));
    assert.equal(warnings("made-up").length, 1);
    raw.stream.resume();
    const before = raw.received.length;
    await raw.until(() => raw.received.length > before + 300, "answers once it reads");
    raw.close();
  });

  test("with reports on its own deployments is rate limited, not disconnected", async () => {
    const { raw } = await welcomed("eager");
    const { metadata } = await deploymentsOf(rest, "eager").create("web", sha256("1"));
    await raw.until(() => raw.received.length >= 3, "the deployment");
    const began = performance.now();
    flood(raw, 20_000, (at) => state(at, "web", metadata.uid ?? "", "again"));

    await assertOtherUnaffected();

    const stored = hub.reports.filter(({ cluster }) => cluster === "eager").length;
    const seconds = (performance.now() - began) / 1_000;
    assert.ok(
      stored > 0 && stored <= 2_100 + 600 * seconds,
      `${stored} were stored in ${seconds} s`,
    );
    await deploymentsOf(rest, "eager").change("web", { deploymentID: sha256("2") });
    const isChanged = () =>
      raw.received.some((one) => one.kind === "deployment" && one.deploymentId === sha256("2"));
    await raw.until(isChanged, "a change, over the same stream");
    raw.close();
  });

  test("with streams gets as many as an agent with backoff needs", async () => {
    const identity = await enrolRawAgent(rest, token, "many");
    const began = performance.now();
    const raws = Array.from({ length: 200 }, () => openRawStream(identity));
    for (const raw of raws) {
      raw.listen();
      raw.send(hello(identity));
    }
    const ends: string[] = [];
    const { promise: allButOne, resolve } = Promise.withResolvers<void>();
    for (const { ended } of raws)
      void ended.then((end) => {
        if (ends.push(end) === raws.length - 1) resolve();
      });
    await allButOne;

    await assertOtherUnaffected();

    assert.ok(ends.some((end) => end.startsWith("RESOURCE_EXHAUSTED")));
    const epoch = clusterOf(hub, "many")?.status?.agent?.epoch ?? 0;
    const seconds = (performance.now() - began) / 1_000;
    assert.ok(
      epoch > 0 && epoch <= 21 + seconds,
      `its Cluster was written ${epoch} times in ${seconds} s`,
    );
    const rejectedCalls =
      (await hub.rejections("connection_rate")) + (await hub.rejections("concurrent_calls"));
    assert.ok(rejectedCalls >= 100, `${rejectedCalls} were rejected`);
    assert.ok(warnings("many").length <= 4, warnings("many").join("\n"));
    for (const raw of raws) raw.close();
  });

  test("with renewals gets only some of them", async () => {
    const identity = await enrolRawAgent(rest, token, "renewing");
    const certificateRequest = Buffer.from(await createCertificateRequest(identity.keyPem));
    const request = renew.requestSerialize({ certificateRequest });

    const answers: string[] = [];
    for (let times = 0; times < 100; times += 1)
      answers.push(await callWithBytes(identity, renewPath, request));

    await assertOtherUnaffected();
    assert.equal(answers[0], "OK");
    // The token bucket is refilled meanwhile.
    const rejectedCalls = answers.filter((answer) => answer !== "OK");
    assert.ok(rejectedCalls.length > 0);
    for (const answer of rejectedCalls)
      assert.match(answer, /^RESOURCE_EXHAUSTED: .*renewed a moment ago/);
    assert.equal(warnings("renewing").length, 1);
  });

  test("with streams that it resets at once is limited by HTTP/2", async () => {
    const identity = await enrolRawAgent(rest, token, "resetting");

    await resetStreams(identity, 3_000);

    await assertOtherUnaffected();
  });

  test("with calls on connections that it closes at once affects no other agent", async () => {
    const identity = await enrolRawAgent(rest, token, "leaving");

    for (let round = 0; round < 5; round += 1)
      await Promise.all(Array.from({ length: 20 }, () => openAndLeave(identity, 16)));

    await assertOtherUnaffected();
  });
});

test("a client that does not complete its request to enrol is disconnected after 10 s, and delays others no longer", async () => {
  const before = await hub.rejections("enrolment");
  const { hubAddress, authoritiesPem } = await enrolRawAgent(rest, token, "early");
  // The concurrency limit for one sender.
  const halfway = Array.from({ length: 8 }, () => enrolHalfway(hubAddress, authoritiesPem));

  await assertOtherUnaffected();
  await enrolRawAgent(rest, token, "patient");

  for (const code of await Promise.all(halfway)) assert.equal(code, status.DEADLINE_EXCEEDED);
  assert.ok((await hub.rejections("enrolment")) >= before + 8);
});

describe("an agent that breaks the contract", () => {
  /** A Hello whose hub id is these bytes, which protobuf decodes as text. */
  const helloWith = (hubId: Uint8Array): Uint8Array => {
    const field = Buffer.concat([Buffer.from([0x1a, hubId.length]), hubId]);
    const body = Buffer.concat([Buffer.from([0x08, 0x01]), field]);
    return Buffer.concat([Buffer.from([0x0a, body.length]), body]);
  };

  test("with bytes that are no messages is rejected each time", async () => {
    const identity = await enrolRawAgent(rest, token, "garbled");
    const rejected: readonly (readonly [Uint8Array, RegExp])[] = [
      [
        Buffer.from("ffffffffffff", "hex"),
        /^INVALID_ARGUMENT: the message of 6 bytes cannot be decoded: /,
      ],
      [Buffer.alloc(0), /^INVALID_ARGUMENT: the agent sent a message of an unknown kind/],
      // An incomplete character, which no header can contain.
      [helloWith(Buffer.from("eda080", "hex")), /^(INVALID_ARGUMENT|FAILED_PRECONDITION): /],
      [helloWith(Buffer.from("\u001b[2J")), /^INVALID_ARGUMENT: hello.hub_id has characters/],
      [helloWith(Buffer.from("ff", "hex")), /^(INVALID_ARGUMENT|FAILED_PRECONDITION): /],
    ];
    const before = await hub.rejections("protocol_violation");
    for (const [bytes, expected] of rejected)
      assert.match(await sendBytes(identity, [bytes]), expected);
    for (let times = 0; times < 8; times += 1)
      assert.match(
        await sendBytes(identity, [randomBytes(200)]),
        /^(INVALID_ARGUMENT|FAILED_PRECONDITION): ./,
      );

    await assertOtherUnaffected();
    assert.equal((await hub.rejections("protocol_violation")) - before, rejected.length + 8);
    const [line = "", ...more] = warnings("garbled");
    assert.deepEqual(more, []);
    assert.match(line, /"reason":"protocol_violation"/);
    assert.match(line, /the message of 6 bytes cannot be decoded/);
  });

  test("with requests to enrol or to renew that are invalid or too long is rejected, counted and logged", async () => {
    const identity = await enrolRawAgent(rest, token, "mumbling");
    const garbage = Buffer.from("ffffffffffff", "hex");
    const before = await hub.rejections("protocol_violation");
    // One byte too many: a longer request without its end is one that the hub may disconnect first.
    const tooLong = Buffer.alloc(256 * 1024 + 1);

    for (const path of [enrollPath, renewPath]) {
      assert.match(
        await callWithBytes(identity, path, garbage),
        /^INVALID_ARGUMENT: the message of 6 bytes cannot be decoded: /,
      );
      assert.equal(
        await callWithBytes(identity, path, tooLong),
        "INVALID_ARGUMENT: the message of 262145 bytes cannot be decoded: a request has at most 262144 bytes",
      );
    }

    assert.equal((await hub.rejections("protocol_violation")) - before, 4);
    const ofPeer = hub.log.lines.filter((line) => line.includes('"peer":"127.0.0.1"'));
    for (const lines of [
      warnings("mumbling"),
      ofPeer.filter((line) => line.includes('"protocol_violation"')),
    ]) {
      assert.equal(lines.length, 1, lines.join("\n"));
      assert.match(lines.join(), /the message of 6 bytes cannot be decoded/);
    }
    await assertOtherUnaffected();
  });

  test("with a Hello or another message beyond a limit gets an error that names the limit", async () => {
    const identity = await enrolRawAgent(rest, token, "vast");
    const holding = { name: "a", uid: "u", deploymentId: "d", paused: false, withdrawing: false };
    const { hubId } = identity;
    const first = hello(identity);
    assert.ok(first.kind === "hello");
    const deployments = Array.from({ length: wireLimits.deployments + 1 }, () => holding);
    const tooMany = connect.requestSerialize(agentMessageToWire({ ...first, hubId, deployments }));

    assert.match(
      await sendBytes(identity, [tooMany]),
      /^INVALID_ARGUMENT: hello\.deployments has length 10001; the limit is 10000/,
    );
    assert.match(
      await sendBytes(identity, [Buffer.alloc(maxMessageBytes + 1)]),
      /^RESOURCE_EXHAUSTED: Received message larger than max \(16777217 vs 16777216\)/,
    );
    // Our own agent never sends it.
    const raw = openRawStream(identity);
    raw.send({ ...first, agentVersion: "x".repeat(maxMessageBytes) });
    assert.equal(
      await raw.ended,
      "RESOURCE_EXHAUSTED: Attempted to send message with a size larger than 16777216",
    );
    raw.close();
    await assertOtherUnaffected();
  });

  test("with a connection without HTTP/2 is disconnected", async () => {
    const identity = await enrolRawAgent(rest, token, "wordless");

    for (const bytes of [
      randomBytes(100_000),
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), randomBytes(10_000)]),
    ])
      await sendNoHttp2(identity, bytes);

    await assertOtherUnaffected();
  });
});
