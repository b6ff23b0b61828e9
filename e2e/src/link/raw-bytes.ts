/** Input below the wire contract: bytes as messages, and connections that violate HTTP/2. */
import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { AgentIdentity } from "@flotilla/agent/state";
import { hubServerName } from "@flotilla/proto";
import { Client, credentials, type StatusObject, status } from "@grpc/grpc-js";

const connectPath = "/flotilla.v1.Fleet/Connect";
export const enrollPath = "/flotilla.v1.Fleet/Enroll";
export const renewPath = "/flotilla.v1.Fleet/Renew";

function grpcClient({ hubAddress, authoritiesPem, chainPem, keyPem }: AgentIdentity): Client {
  return new Client(
    hubAddress,
    credentials.createSsl(Buffer.from(authoritiesPem), Buffer.from(keyPem), Buffer.from(chainPem)),
    {
      "grpc.ssl_target_name_override": hubServerName,
      "grpc.enable_http_proxy": 0,
      "grpc.use_local_subchannel_pool": 1,
      // Larger than every limit.
      "grpc.max_send_message_length": -1,
    },
  );
}

const asItIs = (bytes: Buffer): Buffer => bytes;

/** Sends these bytes on a stream, one message each; resolves with `NAME: details` of its status. */
export async function sendBytes(
  identity: AgentIdentity,
  messages: readonly Uint8Array[],
): Promise<string> {
  const client = grpcClient(identity);
  const stream = client.makeBidiStreamRequest(connectPath, asItIs, asItIs);
  stream.on("error", () => undefined);
  stream.resume();
  const ended = new Promise<StatusObject>((resolve) => void stream.on("status", resolve));
  for (const message of messages) stream.write(Buffer.from(message));
  // Ends the stream if the hub has not.
  stream.end();
  const { code, details } = await ended;
  client.close();
  return `${status[code]}: ${details}`;
}

/** One call with these bytes; `NAME: details`. */
export async function callWithBytes(
  identity: AgentIdentity,
  path: string,
  request: Uint8Array,
): Promise<string> {
  const client = grpcClient(identity);
  try {
    return await new Promise<string>((resolve) => {
      client.makeUnaryRequest(path, asItIs, asItIs, Buffer.from(request), (error) =>
        resolve(error === null ? "OK" : `${status[error.code]}: ${error.details}`),
      );
    });
  } finally {
    client.close();
  }
}

function tlsOptions({ hubAddress, authoritiesPem, chainPem, keyPem }: AgentIdentity) {
  const [host = "", port = ""] = hubAddress.split(":");
  return {
    host,
    port: Number(port),
    ca: authoritiesPem,
    cert: chainPem,
    key: keyPem,
    servername: hubServerName,
    ALPNProtocols: ["h2"],
  };
}

/** Sends these bytes instead of HTTP/2 on a TLS connection; resolves when the hub has closed it. */
export async function sendNoHttp2(identity: AgentIdentity, bytes: Uint8Array): Promise<void> {
  const socket: TLSSocket = connectTls(tlsOptions(identity));
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  socket.resume();
  const closed = once(socket, "close");
  socket.end(bytes);
  await closed;
}

/** Sends half of a request to enrol, without a certificate. Resolves with the status of gRPC once the hub has ended the call. */
export async function enrolHalfway(address: string, authoritiesPem: string): Promise<number> {
  const session = connectHttp2(`https://${address}`, {
    ca: authoritiesPem,
    servername: hubServerName,
  });
  session.on("error", () => undefined);
  const call = session.request({
    ":method": "POST",
    ":path": enrollPath,
    "content-type": "application/grpc+proto",
    te: "trailers",
  });
  // Below the limit for an incomplete request, beyond which the hub closes the connection at once.
  const message = Buffer.alloc(128 * 1024);
  message.writeUInt32BE(2 * message.length, 1);
  call.on("error", () => undefined);
  call.write(message);
  let code = Number.NaN;
  const read = (headers: IncomingHttpHeaders): void => {
    if (headers["grpc-status"] !== undefined) code = Number(headers["grpc-status"]);
  };
  // Without other frames the status is in the first headers.
  call.on("response", read).on("trailers", read).resume();
  await once(call, "close");
  session.destroy();
  return code;
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const literal = (text: string) => [text.length, ...Buffer.from(text)];
/** The headers of a call: POST, https, and the others by their index in the static table of HTTP/2. */
const callHeaders = Buffer.from([
  ...[0x83, 0x87, 0x04, ...literal(connectPath)],
  ...[0x0f, 0x10, ...literal("application/grpc+proto")],
  ...[0x00, ...literal("te"), ...literal("trailers")],
]);

const frames = { headers: 1, resetStream: 3, settings: 4, ping: 6, goAway: 7 } as const;
const endHeaders = 4;
const acknowledgement = 1;

/** Opens calls on one connection and resets each at once; resolves when the hub has processed or closed it. */
export async function resetStreams(identity: AgentIdentity, count: number): Promise<void> {
  const socket = connectTls(tlsOptions(identity));
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  const over = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    let received = Buffer.alloc(0);
    socket.on("data", (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      for (const { type, flags } of readFrames(received))
        if (type === frames.goAway || (type === frames.ping && flags === acknowledgement))
          resolve();
    });
  });
  socket.write(preface);
  socket.write(frame(frames.settings, 0, 0, Buffer.alloc(0)));
  for (let opened = 0; opened < count && !socket.destroyed; opened += 1) {
    const id = opened * 2 + 1;
    socket.write(frame(frames.headers, endHeaders, id, callHeaders));
    socket.write(frame(frames.resetStream, 0, id, Buffer.alloc(4)));
  }
  socket.write(frame(frames.ping, 0, 0, Buffer.alloc(8)));
  await over;
  socket.destroy();
}

/** Opens calls with the first bytes of a connection and closes it; resolves when the hub has closed it, too. */
export async function openAndLeave(identity: AgentIdentity, count: number): Promise<void> {
  const socket = connectTls(tlsOptions(identity));
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  const calls = Array.from({ length: count }, (_, index) =>
    frame(frames.headers, endHeaders, index * 2 + 1, callHeaders),
  );
  const settings = frame(frames.settings, 0, 0, Buffer.alloc(0));
  const closed = once(socket, "close");
  socket.resume().end(Buffer.concat([Buffer.from(preface), settings, ...calls]));
  await closed;
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** The complete frames. */
function* readFrames(bytes: Buffer): Iterable<{ readonly type: number; readonly flags: number }> {
  for (let at = 0; at + 9 <= bytes.length; ) {
    yield { type: bytes.readUInt8(at + 3), flags: bytes.readUInt8(at + 4) };
    at += 9 + bytes.readUIntBE(at, 3);
  }
}
