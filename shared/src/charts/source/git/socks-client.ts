/** A connection through a SOCKS 5 proxy (RFC 1928, RFC 1929). The proxy resolves the name of the host. */
import type { Socket } from "node:net";
import { createByteReader } from "./byte-reader.ts";

export async function openSocks(
  socket: Socket,
  to: { readonly host: string; readonly port: number },
  { username, password }: { readonly username: string; readonly password: string },
  timeoutMs: number,
): Promise<Socket> {
  const read = createByteReader(socket, timeoutMs);
  const method = username === "" ? 0 : 2;
  socket.write(Buffer.from([5, 1, method]));
  const [version, chosen] = await read(2);
  if (version !== 5 || chosen !== method)
    throw new Error("the SOCKS proxy does not accept these credentials");
  if (method === 2) {
    socket.write(Buffer.concat([Buffer.from([1]), lengthAnd(username), lengthAnd(password)]));
    const [, status] = await read(2);
    if (status !== 0) throw new Error("the SOCKS proxy denies the user name or password");
  }
  const port = Buffer.alloc(2);
  port.writeUInt16BE(to.port);
  socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3]), lengthAnd(to.host), port]));
  const [, reply = 255, , type] = await read(4);
  if (reply !== 0) throw new Error(`the SOCKS proxy answered ${replies[reply] ?? reply}`);
  // The address that the proxy connects from.
  if (type === 3) await read((await read(1)).readUInt8(0) + 2);
  else await read(type === 4 ? 18 : 6);
  read.release();
  return socket;
}

const replies: Readonly<Record<number, string>> = {
  1: "general failure",
  2: "connection not allowed",
  3: "network unreachable",
  4: "host unreachable",
  5: "connection refused",
  6: "connection timed out",
};

function lengthAnd(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
