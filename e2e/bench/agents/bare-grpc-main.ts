/**
 * What connections cost with grpc-js and mutual TLS alone: a server, or many clients, each with one stream, which is
 * what a hub and its agents have. Run by bare-grpc.ts, which it talks to.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { hubServerName, loadFleetService, maxMessageBytes } from "@flotilla/proto";
import {
  type ClientDuplexStream,
  credentials,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from "@grpc/grpc-js";
import type { BareMessage, BareOrder } from "./bare-grpc.ts";

const Fleet = loadFleetService();
const say = (message: BareMessage): void => void process.send?.(message);
const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();
const options = {
  "grpc.keepalive_time_ms": 15_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.max_receive_message_length": maxMessageBytes,
  "grpc.max_send_message_length": maxMessageBytes,
  "grpc.enable_channelz": 0,
};

const retryMs = 500;

type Stream = Pick<ClientDuplexStream<object, object>, "write" | "on">;

async function serve(order: Extract<BareOrder, { kind: "serve" }>): Promise<void> {
  const server = new Server({ ...options, "grpc.max_concurrent_streams": 16 });
  const streams = new Set<ServerDuplexStream<object, object>>();
  server.addService(
    { Connect: Fleet.service.Connect },
    {
      Connect(stream: ServerDuplexStream<object, object>) {
        stream.once("data", () => {
          streams.add(stream);
          if (streams.size === order.clients) say({ kind: "connected" });
        });
        const gone = (): void => void streams.delete(stream);
        stream.on("end", gone).on("cancelled", gone).on("error", gone);
        stream.write({ welcome: { epoch: "1" } });
      },
    },
  );
  const { authorityPem, keyPem, chainPem } = order;
  const pair = { private_key: Buffer.from(keyPem), cert_chain: Buffer.from(chainPem) };
  const secure = ServerCredentials.createSsl(Buffer.from(authorityPem), [pair], true);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", secure, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  say({ kind: "serving", port });
  process.on("message", (message: BareOrder) => {
    if (message.kind !== "broadcast") return;
    const content = Buffer.alloc(message.bytes, 7);
    for (const stream of streams)
      stream.write({ deployment: { name: "bare", uid: "bare", content } });
  });
}

function connect({ address, clients, ...order }: Extract<BareOrder, { kind: "connect" }>): void {
  let heard = 0;
  for (let index = 0; index < clients; index += 1) {
    const { authorityPem, keyPem, chainPem } = order;
    const client = new Fleet(
      address,
      credentials.createSsl(Buffer.from(authorityPem), Buffer.from(keyPem), Buffer.from(chainPem)),
      {
        ...options,
        "grpc.keepalive_permit_without_calls": 1,
        "grpc.use_local_subchannel_pool": 1,
        "grpc.enable_http_proxy": 0,
        "grpc.ssl_target_name_override": hubServerName,
      },
    );
    open(() => client.connect());
  }

  /** Again where that failed, as an agent does. */
  function open(connectOnce: () => Stream): void {
    const stream = connectOnce();
    let isWelcomed = false;
    stream.on("data", () => {
      if (isWelcomed) heard += 1;
      isWelcomed = true;
      if (heard === clients) say({ kind: "heard" });
    });
    stream.on("error", (error: Error) => {
      console.error(`    a bare client begins again: ${error.message}`);
      setTimeout(() => open(connectOnce), retryMs);
    });
    stream.write({ hello: { protocolVersion: 1, hubId: "bare" } });
  }
}

process.on("message", (order: BareOrder) => {
  if (order.kind === "serve") void serve(order);
  else if (order.kind === "connect") connect(order);
  else if (order.kind === "settle") {
    for (let round = 0; round < 3; round += 1) global.gc?.();
    say({ kind: "settled", lagMs: loop.percentile(99) / 1e6 });
    loop.reset();
  }
});
say({ kind: "ready" });
