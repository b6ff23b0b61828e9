import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { Rejection } from "../rpc/rejections.ts";
import { type ConnectionLimits, createAgentPort } from "./port.ts";

const handshakes = { perSecond: 1, burst: 100, rememberMs: 60_000, maxWaiting: 100 };
const limits = { handshakes, unauthenticated: 3, keepMs: 1_000, timeoutMs: 60_000 };

/** A port that answers each connection with one byte, once it has taken it over. */
async function open(t: TestContext, changed: Partial<ConnectionLimits> = {}) {
  const clock = createFakeClock();
  const onConnection = (socket: Socket): void => {
    socket.on("error", () => undefined);
    socket.write("x");
  };
  const rejected: string[] = [];
  const rejections = { rejected: (_: string, { reason }: Rejection) => void rejected.push(reason) };
  const port = createAgentPort({
    onConnection,
    rejections,
    clock,
    log: silentLog(),
    limits: { ...limits, ...changed },
  });
  const number = await port.listen("127.0.0.1", 0);
  const sockets: Socket[] = [];
  t.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    port.close();
  });
  return {
    clock,
    port,
    rejected,
    /** Opens a connection whose handshake may have to wait. */
    knock(address = "127.0.0.1"): Socket {
      const socket = connect({ port: number, host: "127.0.0.1", localAddress: address });
      sockets.push(socket);
      return socket;
    },
    /** Resolves when the port has accepted the connection. `address`: of this machine. */
    async connect(address = "127.0.0.1"): Promise<Socket & { peer: string }> {
      const socket = connect({ port: number, host: "127.0.0.1", localAddress: address });
      sockets.push(socket);
      await once(socket, "data");
      return Object.assign(socket, { peer: `${address}:${socket.localPort}` });
    },
  };
}

describe("connections on which no agent has authenticated", () => {
  test("of one address do not keep another from connecting", async (t) => {
    const { connect } = await open(t);
    const [oldest] = [await connect(), await connect(), await connect()];
    const closed = once(oldest, "close");

    await connect("127.0.0.2");

    await closed;
  });

  test("of many addresses do not either, once they have been incomplete for a while", async (t) => {
    const { clock, connect } = await open(t);
    const [oldest] = [
      await connect("127.0.0.2"),
      await connect("127.0.0.3"),
      await connect("127.0.0.4"),
    ];
    const closed = once(oldest, "close");
    await clock.advance(limits.keepMs);

    await connect("127.0.0.5");

    await closed;
  });

  test("are closed after a while", async (t) => {
    const { clock, connect } = await open(t);
    const socket = await connect();
    const closed = once(socket, "close");

    await clock.advance(limits.timeoutMs);

    await closed;
  });

  test("are limited without those of agents, which stay", async (t) => {
    const { clock, port, connect } = await open(t);
    const agents = [await connect(), await connect(), await connect()];
    for (const { peer } of agents) port.authenticated(peer);

    await connect();
    await connect();
    await clock.advance(limits.timeoutMs);

    assert.deepEqual(
      agents.map(({ destroyed, readyState }) => [destroyed, readyState]),
      Array(3).fill([false, "open"]),
    );
  });
});

describe("handshakes", () => {
  const one = { perSecond: 1, burst: 1, rememberMs: 60_000, maxWaiting: 1 };

  test("of callers without a certificate wait, until an agent has authenticated or enrolled", async (t) => {
    const { port, connect, knock } = await open(t, { handshakes: one });
    const agent = await connect();
    const begun = once(knock("127.0.0.2"), "data");

    port.enrolled(agent.peer);
    port.authenticated(agent.peer);

    await begun;
  });

  test("of the caller with the most are rejected when too many wait, and counted", async (t) => {
    const { clock, rejected, connect, knock } = await open(t, { handshakes: one });
    await connect();
    const closed = once(knock(), "close");
    const other = once(knock("127.0.0.2"), "data");

    await closed;
    await clock.advance(1_000);
    await other;

    assert.deepEqual(rejected, ["handshake"]);
  });

  test("do not begin when the port is closed, so that agents reconnect elsewhere", async (t) => {
    const { port, connect, knock } = await open(t, { handshakes: one });
    await connect();
    const dropped = once(knock(), "close");
    const waiting = once(knock("127.0.0.2"), "close");
    // Since the other one waits.
    await dropped;

    port.close();

    await waiting;
  });
});

test("counts the bytes of a connection, and closes it", async (t) => {
  const { port, connect } = await open(t);
  const socket = await connect();
  assert.equal(port.bytesFrom("127.0.0.1:1"), 0);
  const closed = once(socket, "close");

  port.closeConnection(socket.peer);

  await closed;
});
