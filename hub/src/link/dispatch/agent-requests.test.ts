import assert from "node:assert/strict";
import { type AnswerEnd, type HubMessage, type MakeMessage, wireLimits } from "@flotilla/proto";
import { describe, test } from "vitest";
import { createAgentRequests, type NewRequest } from "./agent-requests.ts";

const request: NewRequest = { deployment: { name: "web", uid: "1" }, body: { kind: "diff" } };
const bytes = Buffer.from("text");

function setUp(version = 2) {
  const queued: MakeMessage<HubMessage>[] = [];
  const requests = createAgentRequests({ version, put: (_, make) => void queued.push(make) });
  const received: string[] = [];
  const ends: AnswerEnd[] = [];
  const sink = {
    data: (part: Uint8Array) => void received.push(Buffer.from(part).toString()),
    end: (end: AnswerEnd) => void ends.push(end),
  };
  const open = () => requests.open(request, sink);
  /** What is sent when the stream takes everything that is queued. */
  const sent = (): readonly HubMessage[] =>
    queued.splice(0).flatMap((make) => {
      const message = make();
      assert.ok(!(message instanceof Promise));
      return message ?? [];
    });
  return { requests, open, sent, received, ends };
}

describe("a request to an agent", () => {
  test("is sent, and its chunks and its end reach the sink once", () => {
    const { requests, open, sent, received, ends } = setUp();

    assert.equal(open().kind, "open");
    assert.deepEqual(sent(), [{ kind: "request", id: "1", ...request }]);
    requests.received({ id: "1", data: bytes });
    requests.received({ id: "1", data: bytes, end: {} });
    requests.received({ id: "1", data: bytes, end: {} });
    requests.received({ id: "7", data: bytes });

    assert.deepEqual(received, ["text", "text"]);
    assert.deepEqual(ends, [{}]);
  });

  test("is not sent to an agent of an older version", () => {
    const { open, sent } = setUp(1);

    assert.deepEqual(open(), { kind: "outdated" });
    assert.deepEqual(sent(), []);
  });

  test("that is cancelled ends on both sides, and is not sent if it still was queued", () => {
    const { requests, open, sent, received } = setUp();
    const [first, second] = [open(), open()];

    if (first.kind === "open") first.cancel();
    assert.deepEqual(
      sent().map(({ kind }) => kind),
      ["request", "requestCancellation"],
    );
    if (second.kind === "open") second.cancel();
    if (second.kind === "open") second.cancel();
    assert.deepEqual(sent(), [{ kind: "requestCancellation", id: "2" }]);
    requests.received({ id: "2", data: bytes });
    assert.deepEqual(received, []);
  });

  test("is rejected while four others are in progress", () => {
    const { requests, open } = setUp();

    for (let count = 0; count < 4; count += 1) assert.equal(open().kind, "open");
    assert.deepEqual(open(), { kind: "busy" });
    requests.received({ id: "3", data: bytes, end: {} });
    assert.equal(open().kind, "open");
  });

  test("whose answer is too long is cancelled", () => {
    const { requests, open, sent, ends } = setUp();
    open();
    sent();

    const chunk = Buffer.alloc(wireLimits.chunkBytes);
    for (let size = 0; size <= wireLimits.answerBytes; size += chunk.length)
      requests.received({ id: "1", data: chunk });

    assert.match(ends[0]?.failure?.message ?? "", /longer than 4 MiB; it was cancelled/);
    assert.deepEqual(sent(), [{ kind: "requestCancellation", id: "1" }]);
  });

  test("fails when the stream ends", () => {
    const { requests, open, ends } = setUp();
    open();

    requests.close();

    assert.match(ends[0]?.failure?.message ?? "", /connection of the agent ended/);
  });
});
