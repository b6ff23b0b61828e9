import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, type TestContext, test } from "vitest";
import { startHttpServer } from "./http-server.ts";
import { parseListenAddress } from "./listen-address.ts";

async function setUp(t: TestContext, connections: { capacity: number; keepMs: number }) {
  const server = await startHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    connections,
    routes: { "/": (_, response) => Promise.resolve(void response.end("here")) },
  });
  t.onTestFinished(server.close);
  const { port } = parseListenAddress(server.address, "the server");
  return {
    url: `http://127.0.0.1:${port}/`,
    /** A connection that sends nothing; `from`: an address of this machine. */
    async open(from: string): Promise<Socket> {
      const socket = connect({ port, host: "127.0.0.1", localAddress: from });
      socket.on("error", () => undefined);
      t.onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      return socket;
    },
  };
}

describe("the connections of a server", () => {
  test.runIf(process.platform === "linux")(
    "of one client are closed for those of another one when there are too many",
    async (t) => {
      const { open, url } = await setUp(t, { capacity: 4, keepMs: 60_000 });
      const sockets: Socket[] = [];
      for (let count = 0; count < 4; count += 1) sockets.push(await open("127.0.0.2"));
      const oldest = once(sockets[0] ?? assert.fail(), "close");

      const response = await fetch(url);

      assert.equal(await response.text(), "here");
      await oldest;
    },
  );

  test("are rejected beyond the limit while all are those of one client", async (t) => {
    const { open } = await setUp(t, { capacity: 2, keepMs: 60_000 });
    await Promise.all([open("127.0.0.1"), open("127.0.0.1")]);

    const third = await open("127.0.0.1");
    third.resume();

    await once(third, "close");
  });
});
