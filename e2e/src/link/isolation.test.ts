/** An agent that does what none should: it is refused, counted and told of once, and the agent beside it notices nothing. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createCertificateRequest } from "@flotilla/agent/identity";
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
import { createNamespace, startHubCluster, workspace } from "../harness/hub-control-plane.ts";
import { startHub } from "../harness/in-process-hub.ts";
import { clusterOf, makeToken, startEnrolled } from "../harness/registration.ts";
import { deployedState, deploymentsOf, digest } from "./deployments.ts";
import { enrolRaw, hello, openRaw, type RawStream } from "./raw-agent.ts";
import {
  callWithBytes,
  enrolHalfway,
  enrollPath,
  openAndLeave,
  renewPath,
  resetStreams,
  sayBytes,
  sayNoHttp2,
} from "./raw-bytes.ts";

const rest = await startHubCluster();
const hub = await startHub(rest);
const token = await makeToken(rest, hub, "token");
const { Connect: connect, Renew: renew } = loadFleetService().service;

/** The agent beside it, which is handed one change after the other. */
const calm = await startEnrolled(rest, hub, token, "calm");
const calmDeployments = deploymentsOf(rest, "calm");
const calmUid = (await calmDeployments.create("web", digest("0"))).metadata.uid ?? "";
let calmChanges = 0;

/** What the calm agent is to run reaches it, what it reports is kept, and its connection is the one that it had. */
async function nobodyElseNotices(): Promise<void> {
  calmChanges += 1;
  const deploymentId = digest(`change-${calmChanges}`);
  const message = `told ${calmChanges}`;
  await calmDeployments.change("web", { deploymentID: deploymentId });
  await calm.until(
    () => calm.assigned.at(-1)?.deploymentId === deploymentId,
    "the calm agent's change",
  );
  calm.link.outbox.report(deployedState({ name: "web", uid: calmUid }, message));
  await hub.until(
    () => hub.kept.some(({ cluster, state }) => cluster === "calm" && state.message === message),
    "the calm agent's report",
  );
  assert.equal(clusterOf(hub, "calm")?.status?.agent?.epoch, 1);
}

/** Enrols and says Hello; reads what comes. */
async function welcomed(name: string) {
  const identity = await enrolRaw(rest, token, name);
  await createNamespace(rest, clusterNamespaceName(workspace, name));
  const raw = openRaw(identity);
  raw.listen();
  raw.say(hello(identity));
  await raw.until(() => raw.received.length >= 2, "welcome and synced");
  return { identity, raw };
}

/** Lines of the hub's log about a cluster that a person is warned by. */
function warnings(name: string): readonly string[] {
  return hub.log.lines.filter(
    (line) => line.includes('"level":40') && line.includes(`"cluster":"${workspace}/${name}"`),
  );
}

function state(sequence: number, name: string, uid: string, message = ""): AgentMessage {
  return { kind: "state", sequence, state: deployedState({ name, uid }, message) };
}

/** As fast as they go; nothing waits for what was written before. */
function flood(raw: RawStream, count: number, message: (at: number) => AgentMessage): void {
  for (let at = 1; at <= count; at += 1) raw.say(message(at));
}

await nobodyElseNotices();

describe("an agent that floods", () => {
  test("with reports on deployments of another cluster changes none of them, and is read no faster than it reads", async () => {
    const { raw } = await welcomed("made-up");
    raw.stream.pause();
    flood(raw, 20_000, (at) => state(at, at % 2 === 0 ? "web" : `made-${at}`, calmUid, "forged"));

    await nobodyElseNotices();

    const read = await hub.refused("unknown_deployment");
    assert.ok(read > 0 && read < 5_000, `${read} of 20,000 were read`);
    assert.ok(!hub.kept.some(({ state }) => state.message === "forged"));
    assert.equal(warnings("made-up").length, 1);
    raw.stream.resume();
    const before = raw.received.length;
    await raw.until(() => raw.received.length > before + 300, "answers once it reads");
    raw.close();
  });

  test("with reports on its own is slowed down, not cut off", async () => {
    const { raw } = await welcomed("eager");
    const { metadata } = await deploymentsOf(rest, "eager").create("web", digest("1"));
    await raw.until(() => raw.received.length >= 3, "the deployment");
    const began = performance.now();
    flood(raw, 20_000, (at) => state(at, "web", metadata.uid ?? "", "again"));

    await nobodyElseNotices();

    const kept = hub.kept.filter(({ cluster }) => cluster === "eager").length;
    const seconds = (performance.now() - began) / 1_000;
    assert.ok(kept > 0 && kept <= 2_100 + 600 * seconds, `${kept} were kept in ${seconds} s`);
    await deploymentsOf(rest, "eager").change("web", { deploymentID: digest("2") });
    const isChanged = () =>
      raw.received.some((one) => one.kind === "deployment" && one.deploymentId === digest("2"));
    await raw.until(isChanged, "a change, over the same stream");
    raw.close();
  });

  test("with streams gets as many as an agent that backs off could need", async () => {
    const identity = await enrolRaw(rest, token, "many");
    const raws = Array.from({ length: 200 }, () => openRaw(identity));
    for (const raw of raws) {
      raw.listen();
      raw.say(hello(identity));
    }
    const ends: string[] = [];
    const { promise: allButOne, resolve } = Promise.withResolvers<void>();
    for (const { ended } of raws)
      void ended.then((end) => {
        if (ends.push(end) === raws.length - 1) resolve();
      });
    await allButOne;

    await nobodyElseNotices();

    assert.ok(ends.some((end) => end.startsWith("RESOURCE_EXHAUSTED")));
    const epoch = clusterOf(hub, "many")?.status?.agent?.epoch ?? 0;
    assert.ok(epoch > 0 && epoch < 40, `its Cluster was written ${epoch} times`);
    const refused =
      (await hub.refused("connection_rate")) + (await hub.refused("concurrent_calls"));
    assert.ok(refused >= 100, `${refused} were refused`);
    assert.ok(warnings("many").length <= 4, warnings("many").join("\n"));
    for (const raw of raws) raw.close();
  });

  test("with renewals gets some of them", async () => {
    const identity = await enrolRaw(rest, token, "renewing");
    const certificateRequest = Buffer.from(await createCertificateRequest(identity.keyPem));
    const request = renew.requestSerialize({ certificateRequest });

    const answers: string[] = [];
    for (let times = 0; times < 100; times += 1)
      answers.push(await callWithBytes(identity, renewPath, request));

    await nobodyElseNotices();
    assert.equal(answers[0], "OK");
    // Now and then one more is let through, as time goes by.
    const refused = answers.filter((answer) => answer !== "OK");
    assert.ok(refused.length > 0);
    for (const answer of refused)
      assert.match(answer, /^RESOURCE_EXHAUSTED: .*renewed a moment ago/);
    assert.equal(warnings("renewing").length, 1);
  });

  test("with streams that it resets at once is as far as HTTP/2 lets it", async () => {
    const identity = await enrolRaw(rest, token, "resetting");

    await resetStreams(identity, 3_000);

    await nobodyElseNotices();
  });

  test("with calls on connections that it ends with them disturbs nobody", async () => {
    const identity = await enrolRaw(rest, token, "leaving");

    for (let round = 0; round < 5; round += 1)
      await Promise.all(Array.from({ length: 20 }, () => openAndLeave(identity, 16)));

    await nobodyElseNotices();
  });
});

test("whoever begins to enrol and does not go on is cut off after 10 s, and holds nobody up for longer", async () => {
  const before = await hub.refused("enrolment");
  const { hubAddress, authoritiesPem } = await enrolRaw(rest, token, "early");
  // As many of one sender as are read at a time.
  const halfway = Array.from({ length: 8 }, () => enrolHalfway(hubAddress, authoritiesPem));

  await nobodyElseNotices();
  await enrolRaw(rest, token, "patient");

  for (const code of await Promise.all(halfway)) assert.equal(code, status.DEADLINE_EXCEEDED);
  assert.ok((await hub.refused("enrolment")) >= before + 8);
});

describe("an agent that breaks the contract", () => {
  /** A Hello whose hub id is these bytes, which protobuf takes for text. */
  const helloWith = (hubId: Uint8Array): Uint8Array => {
    const field = Buffer.concat([Buffer.from([0x1a, hubId.length]), hubId]);
    const body = Buffer.concat([Buffer.from([0x08, 0x01]), field]);
    return Buffer.concat([Buffer.from([0x0a, body.length]), body]);
  };

  test("with bytes that are no messages is told so, as often as it tries", async () => {
    const identity = await enrolRaw(rest, token, "garbled");
    const said: readonly (readonly [Uint8Array, RegExp])[] = [
      [
        Buffer.from("ffffffffffff", "hex"),
        /^INVALID_ARGUMENT: the message of 6 bytes cannot be decoded: /,
      ],
      [Buffer.alloc(0), /^INVALID_ARGUMENT: the agent sent a message of an unknown kind/],
      // Half a character, which no header could carry back.
      [helloWith(Buffer.from("eda080", "hex")), /^(INVALID_ARGUMENT|FAILED_PRECONDITION): /],
      [helloWith(Buffer.from("\u001b[2J")), /^INVALID_ARGUMENT: hello.hub_id has characters/],
      [helloWith(Buffer.from("ff", "hex")), /^(INVALID_ARGUMENT|FAILED_PRECONDITION): /],
    ];
    const before = await hub.refused("protocol_violation");
    for (const [bytes, expected] of said) assert.match(await sayBytes(identity, [bytes]), expected);
    for (let times = 0; times < 8; times += 1)
      assert.match(
        await sayBytes(identity, [randomBytes(200)]),
        /^(INVALID_ARGUMENT|FAILED_PRECONDITION): ./,
      );

    await nobodyElseNotices();
    assert.equal((await hub.refused("protocol_violation")) - before, said.length + 8);
    const [line = "", ...more] = warnings("garbled");
    assert.deepEqual(more, []);
    assert.match(line, /"reason":"protocol_violation"/);
    assert.match(line, /the message of 6 bytes cannot be decoded/);
  });

  test("with requests to enrol or to renew that cannot be read, or are too long, is told so, counted and told of", async () => {
    const identity = await enrolRaw(rest, token, "mumbling");
    const garbage = Buffer.from("ffffffffffff", "hex");
    const before = await hub.refused("protocol_violation");

    for (const path of [enrollPath, renewPath]) {
      assert.match(
        await callWithBytes(identity, path, garbage),
        /^INVALID_ARGUMENT: the message of 6 bytes cannot be decoded: /,
      );
      assert.equal(
        await callWithBytes(identity, path, Buffer.alloc(1024 * 1024)),
        "INVALID_ARGUMENT: the message of 1048576 bytes cannot be decoded: a request has at most 262144 bytes",
      );
    }

    assert.equal((await hub.refused("protocol_violation")) - before, 4);
    const ofPeer = hub.log.lines.filter((line) => line.includes('"peer":"127.0.0.1"'));
    for (const lines of [
      warnings("mumbling"),
      ofPeer.filter((line) => line.includes('"protocol_violation"')),
    ]) {
      assert.equal(lines.length, 1, lines.join("\n"));
      assert.match(lines.join(), /the message of 6 bytes cannot be decoded/);
    }
    await nobodyElseNotices();
  });

  test("with a Hello, or any message, beyond its bounds reads which bound that is", async () => {
    const identity = await enrolRaw(rest, token, "vast");
    const holding = { name: "a", uid: "u", deploymentId: "d", paused: false, withdrawing: false };
    const { hubId } = identity;
    const first = hello(identity);
    assert.ok(first.kind === "hello");
    const inventory = Array.from({ length: wireLimits.inventory + 1 }, () => holding);
    const tooMany = connect.requestSerialize(agentMessageToWire({ ...first, hubId, inventory }));

    assert.match(
      await sayBytes(identity, [tooMany]),
      /^INVALID_ARGUMENT: hello\.inventory has length 10001; the limit is 10000/,
    );
    assert.match(
      await sayBytes(identity, [Buffer.alloc(maxMessageBytes + 1)]),
      /^RESOURCE_EXHAUSTED: Received message larger than max \(16777217 vs 16777216\)/,
    );
    // As an agent of ours would say it: not at all.
    const raw = openRaw(identity);
    raw.say({ ...first, agentVersion: "x".repeat(maxMessageBytes) });
    assert.equal(
      await raw.ended,
      "RESOURCE_EXHAUSTED: Attempted to send message with a size larger than 16777216",
    );
    raw.close();
    await nobodyElseNotices();
  });

  test("with a connection that speaks no HTTP/2 loses it", async () => {
    const identity = await enrolRaw(rest, token, "wordless");

    for (const bytes of [
      randomBytes(100_000),
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), randomBytes(10_000)]),
    ])
      await sayNoHttp2(identity, bytes);

    await nobodyElseNotices();
  });
});
