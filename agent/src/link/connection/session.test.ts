/** A session with a hub that is a stream in memory, and a clock that only the test moves. */
import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import {
  agentMessageFromWire,
  type HubMessage,
  hubMessageToWire,
  loadFleetService,
  type ReadHubMessage,
  reconnectTrailers,
  type WireAgentMessage,
  type WireHubMessage,
} from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { Metadata, status } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import { createOutbox } from "../../observe/report/outbox.ts";
import type { Intake } from "../../state/assignment/intake.ts";
import type { HubStream } from "../../state/hubclient/hub-client.ts";
import { rejectRequest } from "../requests/open-requests.ts";
import { runSession, type SessionEnd, type SessionOptions } from "./session.ts";

const { Connect: connect } = loadFleetService().service;

function read(wire: WireHubMessage): ReadHubMessage {
  return connect.responseDeserialize(connect.responseSerialize(wire));
}

/** The agent's side of a stream. Like a stream of gRPC it has one status, after all that was sent before. */
class FakeStream extends Duplex {
  /** The kinds of the messages that the agent has sent. */
  readonly sent: string[] = [];
  isCancelled = false;

  constructor() {
    super({ objectMode: true });
  }

  override _read(): void {
    // `receive` pushes.
  }

  override _write(wire: WireAgentMessage, _: BufferEncoding, taken: () => void): void {
    const message = connect.requestDeserialize(connect.requestSerialize(wire));
    this.sent.push(agentMessageFromWire(message).kind);
    taken();
  }

  cancel(): void {
    this.isCancelled = true;
    this.endWith(status.CANCELLED, "cancelled on the client");
  }

  async receive(...messages: readonly HubMessage[]): Promise<void> {
    for (const message of messages) this.push(read(hubMessageToWire(message)));
    await settle();
  }

  /** Also while it is paused, as what gRPC has read already. */
  receiveNow(message: HubMessage): void {
    this.emit("data", read(hubMessageToWire(message)));
  }

  endWith(code: status, details: string, metadata = new Metadata()): void {
    this.emit("status", { code, details, metadata });
  }
}

const welcome = {
  kind: "welcome",
  protocolVersion: 1,
  hubId: "hub",
  epoch: 7,
  hubVersion: "1.0.0",
} satisfies HubMessage;

function withdrawal(name: string): HubMessage {
  return { kind: "withdrawal", deployment: { name, uid: `uid-${name}` } };
}

/** `store`: stores a withdrawal. */
function start(
  store: (name: string) => Promise<void> = () => Promise.resolve(),
  options: Partial<SessionOptions> = {},
) {
  const stream = new FakeStream();
  const clock = createFakeClock();
  const closing = new AbortController();
  const stored: string[] = [];
  const epochs: number[] = [];
  const intake: Partial<Intake> = {
    deployments: () => [],
    states: () => [],
    referencedObjects: () => [],
    clusterInfoDigest: () => undefined,
    async withdraw({ name }) {
      await store(name);
      stored.push(name);
      return true;
    },
  };
  let ended: SessionEnd | undefined;
  const session = runSession({
    stream: stream as unknown as HubStream,
    hubId: "hub",
    ...{ agentVersion: "1.0.0", agentNamespace: "flotilla", authoritiesDigest: "" },
    setAuthorities: () => Promise.resolve(),
    intake: intake as Intake,
    outbox: createOutbox(),
    answer: rejectRequest,
    ...{ clock, log: silentLog(), signal: closing.signal },
    onWelcome: (epoch) => void epochs.push(epoch),
    ...options,
  }).then((end) => {
    ended = end;
    return end;
  });
  /** Undefined while it runs. */
  async function end(): Promise<SessionEnd | undefined> {
    await settle();
    return ended;
  }
  return { stream, clock, closing, stored, epochs, session, end };
}

describe("a session", () => {
  test("sends Hello, and stores and acknowledges what the hub sends after Welcome", async () => {
    const { stream, stored, epochs } = start();

    await stream.receive(welcome, withdrawal("web"));

    assert.deepEqual(
      { sent: stream.sent, stored, epochs },
      { sent: ["hello", "deploymentAck"], stored: ["web"], epochs: [7] },
    );
  });

  test("ends with the status of its stream, and lasts since Welcome", async () => {
    const { stream, clock, session } = start();
    await clock.advance(1_000);
    await stream.receive(welcome);
    await clock.advance(5_000);

    stream.endWith(status.UNAVAILABLE, "connection reset");

    assert.deepEqual(await session, {
      ...{ isGoingAway: false, isLocal: false, connectedMs: 5_000 },
      ...{ code: "UNAVAILABLE", message: "connection reset" },
    });
  });

  test("says that the hub goes away if the hub asks the agent to reconnect", async () => {
    const { stream, session } = start();
    await stream.receive(welcome);

    stream.endWith(status.OK, "the hub shuts down", reconnectTrailers());

    assert.equal((await session).isGoingAway, true);
  });

  test("ends once all that has arrived is stored", async () => {
    const storing = Promise.withResolvers<void>();
    const { stream, end, stored } = start(() => storing.promise);
    await stream.receive(welcome, withdrawal("web"));
    stream.endWith(status.UNAVAILABLE, "connection reset");
    assert.equal(await end(), undefined);

    storing.resolve();

    assert.equal((await end())?.code, "UNAVAILABLE");
    assert.deepEqual(stored, ["web"]);
  });

  test("leaves no timer", async () => {
    const { stream, clock, closing, session } = start();
    closing.abort();
    stream.endWith(status.OK, "");

    await session;

    assert.deepEqual(clock.waiting(), []);
  });
});

describe("a session that waits for the hub", () => {
  test("fails if the hub does not answer within 30 s", async () => {
    const { clock, stream, end } = start();
    await clock.advance(29_999);
    assert.equal(await end(), undefined);

    await clock.advance(1);

    const { code, message, connectedMs } = (await end()) ?? {};
    assert.deepEqual(
      { code, message, connectedMs, isCancelled: stream.isCancelled },
      {
        ...{ code: "HUB_PROTOCOL", message: "the hub did not answer within 30 s" },
        ...{ connectedMs: 0, isCancelled: true },
      },
    );
  });

  test("fails if the hub does not send Welcome within 60 s after its first answer", async () => {
    const { clock, stream, end } = start();
    await clock.advance(29_000);
    stream.emit("metadata", new Metadata());
    await clock.advance(59_999);
    assert.equal(await end(), undefined);

    await clock.advance(1);

    const { code, message } = (await end()) ?? {};
    assert.deepEqual(
      { code, message },
      { code: "HUB_PROTOCOL", message: "the hub did not answer Hello within 60 s" },
    );
  });

  test("lasts as long as its stream after Welcome", async () => {
    const { clock, stream, end } = start();
    await stream.receive(welcome);
    stream.emit("metadata", new Metadata());

    await clock.advance(24 * 60 * 60_000);

    assert.equal(await end(), undefined);
  });
});

describe("a session with a hub that violates the contract", () => {
  const cases: readonly (readonly [
    what: string,
    message: HubMessage,
    code: string,
    why: RegExp,
  ])[] = [
    [
      "that begins with another message than Welcome",
      withdrawal("web"),
      "HUB_PROTOCOL",
      /the hub's first message is not Welcome/,
    ],
    [
      "that chose a version of the protocol that only a newer agent supports",
      { ...welcome, protocolVersion: 99 },
      "HUB_PROTOCOL",
      /version 99 .* supports versions \d+ to \d+; upgrade the agent$/,
    ],
    [
      "that is another one than the agent's",
      { ...welcome, hubId: "other" },
      "WRONG_HUB",
      /leads to hub other, but this agent belongs to hub hub; nothing was changed/,
    ],
    [
      "that withdraws a deployment without a name",
      withdrawal(""),
      "HUB_PROTOCOL",
      /withdrawal.name is empty/,
    ],
  ];
  for (const [what, message, code, why] of cases)
    test(`${what} ends, and changes nothing`, async () => {
      const { stream, session, stored, epochs } = start();

      await stream.receive(message, welcome, withdrawal("api"));

      const ended = await session;
      assert.deepEqual({ code: ended.code, stored, epochs }, { code, stored: [], epochs: [] });
      assert.match(ended.message, why);
      assert.equal(ended.connectedMs, 0);
    });
});

describe("a session that is closed", () => {
  test("ends its side of the stream, and then with the hub's status", async () => {
    const { stream, closing, end, session } = start();
    await stream.receive(welcome);

    closing.abort();
    assert.equal(stream.writableEnded, true);
    assert.equal(await end(), undefined);
    stream.endWith(status.OK, "bye");

    const { isLocal, code } = await session;
    assert.deepEqual(
      { isLocal, code, isCancelled: stream.isCancelled },
      { isLocal: true, code: "OK", isCancelled: false },
    );
  });

  test("is cancelled if the hub does not end the stream within 2 s", async () => {
    const { stream, clock, closing, end } = start();
    await stream.receive(welcome);
    closing.abort();
    await clock.advance(1_999);
    assert.equal(await end(), undefined);

    await clock.advance(1);

    const { isLocal, code } = (await end()) ?? {};
    assert.deepEqual({ isLocal, code }, { isLocal: true, code: "CANCELLED" });
  });

  test("before it begins sends nothing", async () => {
    const { stream, session } = start(undefined, { signal: AbortSignal.abort() });
    await settle();
    stream.endWith(status.OK, "");

    assert.equal((await session).isLocal, true);
    assert.deepEqual(stream.sent, []);
  });
});

describe("a session whose store", () => {
  test("fails ends with the first failure, once the other stores have ended", async () => {
    const slow = Promise.withResolvers<void>();
    const failed = new AppError(agentErrors.HELM_FAILED, "the disk is full");
    const { stream, end, stored } = start((name) =>
      name === "slow" ? slow.promise : Promise.reject(failed),
    );
    await stream.receive(welcome, withdrawal("slow"), withdrawal("web"), withdrawal("api"));
    assert.equal(stream.isCancelled, true);
    assert.equal(await end(), undefined);

    slow.resolve();

    const { code, message, isLocal } = (await end()) ?? {};
    assert.deepEqual(
      { code, message, isLocal, stored },
      { code: "HELM_FAILED", message: "the disk is full", isLocal: false, stored: ["slow"] },
    );
  });

  const stores = 16;
  const names = Array.from({ length: stores }, (_, index) => `app-${index}`);

  test("is busy pauses the stream, and resumes it when there is room", async () => {
    const storing = new Map(names.map((name) => [name, Promise.withResolvers<void>()]));
    const { stream } = start((name) => storing.get(name)?.promise ?? Promise.resolve());
    await stream.receive(welcome, ...names.slice(1).map(withdrawal));
    assert.equal(stream.isPaused(), false);

    await stream.receive(withdrawal("app-0"));
    assert.equal(stream.isPaused(), true);

    storing.get("app-3")?.resolve();
    await settle();
    assert.equal(stream.isPaused(), false);
  });

  test("is busy does not keep the stream from ending when it fails", async () => {
    const first = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    const { stream } = start((name) => (name === "app-0" ? first.promise : others.promise));
    await stream.receive(welcome, ...names.map(withdrawal));
    stream.receiveNow(withdrawal("app-16"));

    // Nothing of it is read any more, and its end comes after what was sent before.
    first.reject(new Error("the disk is full"));
    await settle();

    assert.deepEqual([stream.isCancelled, stream.isPaused()], [true, false]);
  });
});
