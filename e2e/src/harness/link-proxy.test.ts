/** The proxy itself, between plain sockets: its faults really happen. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, onTestFinished, test } from "vitest";
import { startLinkProxy } from "./link-proxy.ts";

/** Responds with `name:` and what it received. */
async function startEcho(name: string): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (piece) => socket.write(`${name}:${piece.toString()}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

async function ask(socket: Socket, words: string): Promise<string> {
  socket.write(words);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return answer.toString();
}

async function isReset(socket: Socket): Promise<void> {
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  assert.equal(error.code, "ECONNRESET");
}

const proxy = await startLinkProxy();
afterAll(() => proxy.close());
const [one, two] = [await startEcho("one"), await startEcho("two")];

test("connections go to the backends in turn, except closed ones, and are reset when all are closed", async () => {
  proxy.setBackends([one.port, 1, two.port]);
  const answers = [];
  for (let count = 0; count < 3; count += 1)
    answers.push(await ask(await dial(proxy.port), "hello"));
  assert.deepEqual(answers, ["one:hello", "two:hello", "one:hello"]);

  proxy.setBackends([1]);
  await isReset(await dial(proxy.port));
});

test("connections to one backend are cut, others stay", async () => {
  proxy.setBackends([one.port]);
  const first = await dial(proxy.port);
  await ask(first, "hello");
  proxy.setBackends([two.port]);
  const second = await dial(proxy.port);
  await ask(second, "hello");

  proxy.cut(one.port);

  await isReset(first);
  assert.equal(await ask(second, "again"), "two:again");
});

test("a half-closed connection forwards one direction only", async () => {
  proxy.setBackends([one.port]);
  const socket = await dial(proxy.port);
  await ask(socket, "hello");

  proxy.halve("hub");

  await once(socket, "end");
  const received = once(one.sockets.at(-1) as Socket, "data");
  socket.write("still there");
  assert.equal(String((await received)[0]), "still there");
});

test("dropped bytes and ends are not delivered until the proxy is healed", async () => {
  proxy.setBackends([one.port]);
  const socket = await dial(proxy.port);
  await ask(socket, "hello");
  const far = one.sockets.at(-1) as Socket;
  proxy.drop(["agent", "hub"]);

  let isReceived = false;
  const received = once(far, "data").then(() => {
    isReceived = true;
  });
  socket.write("anybody?");
  // A connection that is not dropped gets a response by then.
  assert.equal(await ask(await dial(one.port), "marker"), "one:marker");
  assert.equal(isReceived, false);

  proxy.heal();
  await received;
});
