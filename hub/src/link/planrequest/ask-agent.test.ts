import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { aDigest, aResult, aTarget } from "../../rollout/plan/testing/index.ts";
import { createSentObject } from "../../rules/referenced/sent-object.ts";
import { aCluster } from "../../testing/index.ts";
import type { AnswerSink, NewRequest, OpenedRequest } from "../dispatch/agent-requests.ts";
import { replicaLinks } from "../replicalink/testing/index.ts";
import { type AskAgentDeps, createAgentAsker } from "./ask-agent.ts";

type Agent = NonNullable<NonNullable<Cluster["status"]>["agent"]>;

const connected: Agent = { connected: true, replica: "own", capabilities: ["Plan"], version: "1" };
const target = aTarget("fleet-default/ams");
const question = { key: Buffer.from("key"), withText: true };
const { signal } = new AbortController();
const line = Buffer.from(`${JSON.stringify(aResult("image"))}\n`);

interface Sent {
  readonly request: NewRequest;
  readonly sink: AnswerSink;
}

function setUp(agent: Agent = connected, deps: Partial<AskAgentDeps> = {}) {
  const clock = createFakeClock();
  const sent: Sent[] = [];
  const cancelled: string[] = [];
  const cluster = aCluster("ams", { status: { agent } });
  const ask = createAgentAsker({
    replica: "own",
    clusters: { get: (key) => (key === target.cluster ? cluster : undefined) },
    ask(key, request, sink): OpenedRequest {
      sent.push({ request, sink });
      return { kind: "open", cancel: () => void cancelled.push(key) };
    },
    link: { forward: () => Promise.reject(new Error("there is no other replica")) },
    addressOf: () => undefined,
    objects: {
      watch: () => undefined,
      unwatch: () => undefined,
      known: () => Promise.resolve({ kind: "absent" }),
    },
    contents: { read: () => Promise.resolve(Buffer.from("content")) },
    clock,
    ...deps,
  });
  return { ask, clock, sent, cancelled };
}

describe("a plan of one agent", () => {
  test("is read from the chunks of its answer", async () => {
    const { ask, sent } = setUp();

    const answer = ask(target, question, signal);
    await settle();
    const [{ request, sink } = assert.fail()] = sent;
    sink.data(line.subarray(0, 20));
    sink.data(line.subarray(20));
    sink.data(Buffer.from("-a\n+b\n"));
    sink.end({});

    assert.deepEqual(await answer, {
      kind: "answered",
      answer: { result: aResult("image"), text: "-a\n+b\n" },
    });
    assert.deepEqual(request, {
      deployment: target.deployment,
      body: {
        kind: "plan",
        deploymentId: target.deploymentId,
        content: Buffer.from("content"),
        ...question,
        objects: [],
      },
    });
  });

  test("sends no content to an agent that has it", async () => {
    const { ask, sent } = setUp();

    void ask({ ...target, hasContent: true }, question, signal);
    await settle();

    assert.ok(sent[0]?.request.body.kind === "plan");
    assert.equal(sent[0].request.body.content, undefined);
  });

  test("sends what the content refers to and the agent does not have", async () => {
    const data = { password: Buffer.from("secret").toString("base64") };
    const watched: string[] = [];
    const asked = Promise.withResolvers<NewRequest>();
    const { ask } = setUp(connected, {
      ask(_, request, sink) {
        asked.resolve(request);
        setImmediate(() => sink.end({ failure: { code: "X", message: "no" } }));
        return { kind: "open", cancel: () => undefined };
      },
      objects: {
        watch: (namespace, { name }) => void watched.push(`+${namespace}/${name}`),
        unwatch: (namespace, { name }) => void watched.push(`-${namespace}/${name}`),
        known: () =>
          Promise.resolve({
            kind: "present",
            resourceVersion: "1",
            object: { data },
            sent: createSentObject({ data }),
          }),
      },
    });

    await ask({ ...target, objects: ["Secret/login"] }, question, signal);

    const { body } = await asked.promise;
    assert.ok(body.kind === "plan");
    const [object] = body.objects;
    assert.deepEqual([object?.kind, object?.name], ["Secret", "login"]);
    assert.ok((object?.packed?.content.length ?? 0) > 0);
    assert.deepEqual(watched, ["+fleet-default/login", "-fleet-default/login"]);
  });

  const unknown: readonly (readonly [string, Agent, string, RegExp])[] = [
    ["offline", { ...connected, connected: false }, "Offline", /its agent is offline/],
    [
      "older",
      { ...connected, capabilities: ["RequestResults"] },
      "Outdated",
      /version 1, which makes no plans; upgrade the agent/,
    ],
    [
      "connected to a replica without an address",
      { ...connected, replica: "other" },
      "Outdated",
      /does not publish its address/,
    ],
  ];
  for (const [name, agent, reason, message] of unknown)
    test(`that is ${name} is not known, and says why`, async () => {
      const { ask, sent } = setUp(agent);

      const answer = await ask(target, question, signal);

      assert.ok(answer.kind === "unknown");
      assert.equal(answer.reason, reason);
      assert.match(answer.message, message);
      assert.equal(sent.length, 0);
    });

  test("that is longer than the limit is cancelled before it is decoded", async () => {
    const { ask, sent, cancelled } = setUp();

    const answer = ask(target, question, signal);
    await settle();
    for (let chunk = 0; chunk < 3; chunk += 1) sent[0]?.sink.data(Buffer.alloc(32 * 1024));

    const failed = await answer;
    assert.ok(failed.kind === "unknown");
    assert.match(failed.message, /longer than/);
    assert.deepEqual(cancelled, [target.cluster]);
  });

  test("that is no plan is not believed", async () => {
    const { ask, sent } = setUp();

    const answer = ask(target, question, signal);
    await settle();
    sent[0]?.sink.data(Buffer.from('{"result":"none"}\n'));
    sent[0]?.sink.end({});

    const failed = await answer;
    assert.ok(failed.kind === "unknown");
    assert.match(failed.message, /cannot be read as a plan/);
  });

  test("is waited for at most a minute", async () => {
    const { ask, clock, cancelled } = setUp();

    const answer = ask(target, question, signal);
    await settle();
    await clock.advance(60_000);

    const failed = await answer;
    assert.ok(failed.kind === "unknown");
    assert.match(failed.message, /no answer after 60 s/);
    assert.deepEqual(cancelled, [target.cluster]);
  });

  test("is not asked for with more than agents are sent in one message", async () => {
    const { ask, sent } = setUp(connected, {
      contents: { read: () => Promise.resolve(Buffer.alloc(4 * 1024 * 1024)) },
    });

    const failed = await ask(target, question, signal);

    assert.ok(failed.kind === "unknown");
    assert.match(failed.message, /4194304 bytes, more than the 3145728/);
    assert.equal(sent.length, 0);
  });

  test("of an agent at another replica is forwarded with its content, and read with the same limits", async (t) => {
    const open = await replicaLinks(t, "hub");
    const [own, other] = [await open("own"), await open("other")];
    own.answer(() => Promise.resolve());
    const received: unknown[] = [];
    other.answer((request, response) => {
      received.push(request.body);
      const data = [line.toString(), "+b\n"].map((part) => JSON.stringify({ data: part }));
      response.end(`${data.join("\n")}\n${JSON.stringify({ end: {} })}\n`);
      return Promise.resolve();
    });
    const { ask } = setUp(
      { ...connected, replica: "other" },
      { link: own, addressOf: () => other.address },
    );

    const answer = await ask(target, question, signal);

    assert.deepEqual(answer, {
      kind: "answered",
      answer: { result: aResult("image"), text: "+b\n" },
    });
    assert.deepEqual(received, [
      {
        kind: "plan",
        deploymentId: aDigest("new"),
        content: new Uint8Array(Buffer.from("content")),
        key: new Uint8Array(question.key),
        withText: true,
        objects: [],
      },
    ]);
  });
});
