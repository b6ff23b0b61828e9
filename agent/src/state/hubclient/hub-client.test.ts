import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test } from "vitest";
import { createHubConnector } from "./hub-client.ts";

async function listen(port: number): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

test("a closed client opens no TLS session with a hub that starts later", async () => {
  const earlier = await listen(0);
  earlier.server.close();
  await once(earlier.server, "close");
  const client = createHubConnector()({
    address: `127.0.0.1:${earlier.port}`,
    authoritiesPem: "",
  });
  const stream = client.connect();
  stream.on("error", () => undefined);
  await new Promise((resolve) => stream.once("status", resolve));
  client.close();

  const { server } = await listen(earlier.port);
  // The next attempt, which was scheduled already.
  const [socket]: Socket[] = await once(server, "connection");
  assert.ok(socket);
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(socket, "close");

  assert.equal(bytes, 0, "no TLS ClientHello");
  server.close();
});
