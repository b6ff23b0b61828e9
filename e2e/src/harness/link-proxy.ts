/**
 * A TCP proxy between agents and the hub's replicas: it connects to the replicas in turn, as a Service does, and injects
 * network faults.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** `agent`: what agents send; `hub`: what the hub sends. */
export type Side = "agent" | "hub";

export interface LinkProxy {
  readonly port: number;
  /** How many connections are open. */
  readonly size: number;
  /** The ports that new connections go to, in turn. */
  setBackends(ports: readonly number[]): void;
  /** Ends all connections by a reset, or only those to one port. */
  cut(backend?: number): void;
  /** Closes one half of every connection. */
  halve(side: Side): void;
  /** Drops all bytes in these directions, and the ends of connections; new connections hang. */
  drop(sides: readonly Side[]): void;
  /** Delays every chunk in both directions. */
  delay(ms: number): void;
  /** Ends `drop` and `delay`; dropped bytes are delivered. */
  heal(): void;
  close(): Promise<void>;
}

interface Link {
  readonly backend: number;
  readonly sockets: Readonly<Record<Side, Socket>>;
}

export async function startLinkProxy(): Promise<LinkProxy> {
  const links = new Set<Link>();
  let backends: readonly number[] = [];
  let turn = 0;
  let delayMs = 0;
  let dropped: ReadonlySet<Side> = new Set();
  let healed = Promise.withResolvers<void>();

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (agent) => void take(agent));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  /** Tries each backend once, in turn. */
  async function take(agent: Socket): Promise<void> {
    agent.on("error", () => undefined);
    for (let tried = 0; tried < backends.length; tried += 1) {
      const backend = backends[turn++ % backends.length];
      const hub = backend === undefined ? undefined : await open(backend);
      if (hub === undefined || backend === undefined) continue;
      if (agent.destroyed) hub.destroy();
      else join({ backend, sockets: { agent, hub } });
      return;
    }
    agent.resetAndDestroy();
  }

  function join(link: Link): void {
    const { agent, hub } = link.sockets;
    links.add(link);
    void forward("agent", agent, hub);
    void forward("hub", hub, agent);
    for (const [socket, other] of [
      [agent, hub],
      [hub, agent],
    ] as const) {
      socket.once("close", () => {
        links.delete(link);
        // While bytes are dropped the peer sees no end.
        void undropped().then(() => other.destroy());
      });
    }
  }

  async function forward(side: Side, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from) {
        if (delayMs > 0) await sleep(delayMs);
        await undropped(side);
        if (!to.write(chunk as Uint8Array)) await room(to);
      }
      await undropped(side);
      to.end();
    } catch {
      // The "close" event of the socket handles it.
    }
  }

  /** Resolves while that side, or both, are not dropped. */
  async function undropped(side?: Side): Promise<void> {
    while (side === undefined ? dropped.size > 0 : dropped.has(side)) await healed.promise;
  }

  function heal(): void {
    delayMs = 0;
    dropped = new Set();
    const { resolve } = healed;
    healed = Promise.withResolvers();
    resolve();
  }

  function reset({ sockets }: Link): void {
    sockets.agent.resetAndDestroy();
    sockets.hub.resetAndDestroy();
  }

  return {
    port,
    get size() {
      return links.size;
    },
    setBackends(ports) {
      backends = ports;
    },
    cut(backend) {
      for (const link of links) if (backend === undefined || link.backend === backend) reset(link);
    },
    halve(side) {
      // The other side sees the end; the opposite direction stays open.
      for (const { sockets } of links) sockets[side === "agent" ? "hub" : "agent"].end();
    },
    drop(sides) {
      dropped = new Set(sides);
    },
    delay(ms) {
      delayMs = ms;
    },
    heal,
    async close() {
      heal();
      for (const link of links) reset(link);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** `undefined` when nothing listens there. */
function open(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
    socket.on("error", () => undefined);
  });
}

function room(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("drain", resolve);
    socket.once("close", () => reject(new Error("the connection was closed")));
  });
}
