import assert from "node:assert/strict";
import { setImmediate as settle } from "node:timers/promises";
import {
  type AgentMessage,
  type AgentRequest,
  type AnswerChunk,
  createSendQueue,
  wireLimits,
} from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import { type AnswerRequest, createOpenRequests } from "./open-requests.ts";

const request = (id: string): AgentRequest => ({
  ...{ id, deployment: { name: "web", uid: "1" }, body: { kind: "history" } },
});

/** A stream that takes each message at once, unless it is `held`. */
function setUp(answer: AnswerRequest, held?: Promise<void>) {
  const clock = createFakeClock();
  const sent: AgentMessage[] = [];
  const outgoing = createSendQueue<AgentMessage>({
    send(message) {
      sent.push(message);
      return held ?? Promise.resolve();
    },
    onError: (thrown) => assert.fail(String(thrown)),
  });
  const requests = createOpenRequests({ answer, outgoing, clock, log: silentLog() });
  const chunksOf = (id: string) =>
    sent.filter(
      (message): message is AnswerChunk & { kind: "answerChunk" } =>
        message.kind === "answerChunk" && message.id === id,
    );
  return {
    ...{ clock, sent, outgoing, requests, chunksOf },
    textOf: (id: string) => Buffer.concat(chunksOf(id).map(({ data }) => data)).toString(),
    endOf: (id: string) => chunksOf(id).at(-1)?.end,
  };
}

const forever: AnswerRequest = (_, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(AppError.from(signal.reason)));
  });

describe("an answer", () => {
  test("is sent in chunks that the contract allows", async () => {
    const text = "é".repeat(wireLimits.chunkBytes);
    const { requests, chunksOf, textOf, endOf } = setUp((_, { write }) => write(text));

    requests.start(request("1"));
    await settle();

    assert.equal(textOf("1"), text);
    assert.deepEqual(endOf("1"), {});
    assert.equal(chunksOf("1").length, 3);
    for (const { data } of chunksOf("1")) assert.ok(data.length <= wireLimits.chunkBytes);
  });

  test("is cut at the limit of the contract, and says so", async () => {
    const { requests, textOf, endOf } = setUp(async (_, { write }) => {
      for (;;) await write("x".repeat(100_000));
    });

    requests.start(request("1"));
    while (endOf("1") === undefined) await settle();

    assert.match(textOf("1"), /\n\[the answer is longer than 4 MiB; the rest is left out\]\n$/);
    assert.ok(Buffer.byteLength(textOf("1")) <= wireLimits.answerBytes);
    assert.deepEqual(endOf("1"), {});
  });

  test("that fails ends with the error", async () => {
    const { requests, textOf, endOf } = setUp(async (_, { write }) => {
      await write("a part\n");
      throw new AppError(agentErrors.REQUEST_FAILED, "no such pod");
    });

    requests.start(request("1"));
    await settle();

    assert.equal(textOf("1"), "a part\n");
    assert.deepEqual(endOf("1"), { failure: { code: "REQUEST_FAILED", message: "no such pod" } });
  });

  test("does not hold up a state", async () => {
    const taken = Promise.withResolvers<void>();
    const { requests, outgoing, sent } = setUp(
      (_, { write }) => write("x".repeat(wireLimits.answerBytes / 2)),
      taken.promise,
    );

    requests.start(request("1"));
    await settle();
    outgoing.put("state", () => ({ kind: "withdrawn", deployment: { name: "web", uid: "1" } }));
    taken.resolve();
    await settle();

    assert.deepEqual(
      sent.slice(0, 3).map(({ kind }) => kind),
      ["answerChunk", "withdrawn", "answerChunk"],
    );
  });
});

describe("a request", () => {
  test("ends after 30 s", async () => {
    const { clock, requests, endOf } = setUp(forever);

    requests.start(request("1"));
    clock.advanceNow(30_000);
    await settle();

    assert.deepEqual(endOf("1")?.failure, {
      code: "REQUEST_FAILED",
      message: "the agent has no complete answer after 30 s",
    });
  });

  test("is rejected while four others are answered", async () => {
    const { requests, endOf } = setUp(forever);

    for (const id of ["1", "2", "3", "4", "5"]) requests.start(request(id));
    await settle();
    assert.equal(endOf("4"), undefined);
    assert.match(endOf("5")?.failure?.message ?? "", /^the agent answers 4 other requests/);

    requests.cancel("1");
    requests.start(request("6"));
    await settle();
    assert.equal(endOf("6"), undefined);
  });

  test("that is cancelled, or whose stream has ended, stops and sends nothing any more", async () => {
    const stopped: string[] = [];
    const { requests, sent } = setUp(async (asked, sink) => {
      await forever(asked, sink).finally(() => stopped.push("stopped"));
    });

    requests.start(request("1"));
    requests.start(request("2"));
    requests.cancel("1");
    await settle();
    assert.equal(stopped.length, 1);
    requests.close();
    await settle();

    assert.equal(stopped.length, 2);
    assert.deepEqual(sent, []);
  });
});
