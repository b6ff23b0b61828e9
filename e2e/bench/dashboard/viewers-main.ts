/**
 * Many viewers of a dashboard in one process, each with a connection of its own for the stream of changes. Run by viewers.ts,
 * which it talks to.
 */
import { Agent, get, type IncomingMessage } from "node:http";
import { type Change, streamEvents } from "@flotilla/shared/dashboard";
import type { SeenMessage, ViewersMessage, ViewersOrder } from "./viewers.ts";

type Sessions = Extract<ViewersOrder, { kind: "open" }>["sessions"];

const say = (message: ViewersMessage): void => void process.send?.(message);
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY, keepAlive: false });

const counted = { bytes: 0, changes: 0, resets: 0, ended: 0 };
/** By its text: viewers with the same rights get the same ones, and each is parsed once. */
const messages = new Map<string, { readonly seen: SeenMessage; readonly arrivals: number[] }>();

// When the benchmark was killed.
process.once("disconnect", () => process.exit());
process.on("message", (order: ViewersOrder) => {
  switch (order.kind) {
    case "open":
      void Promise.all(order.sessions.map(open)).then(() => say({ kind: "open" }));
      break;
    case "count":
      messages.clear();
      Object.assign(counted, { bytes: 0, changes: 0 });
      break;
    case "report":
      say({ kind: "received", ...counted, messages: [...messages.values()].map(toSeen) });
  }
});

/** Resolves when the stream has begun. */
function open({ address, cookie }: Sessions[number]): Promise<void> {
  return new Promise((resolve, reject) => {
    get(`${address}/api/v1/changes`, { agent, headers: { cookie } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`HTTP ${response.statusCode}`));
      resolve();
      follow(response);
    }).once("error", reject);
  });
}

function follow(response: IncomingMessage): void {
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    counted.bytes += chunk.length;
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) receive(block);
  });
  response.once("close", () => (counted.ended += 1));
}

function receive(block: string): void {
  if (block.startsWith(`event: ${streamEvents.reset}`)) counted.resets += 1;
  if (!block.includes(`\nevent: ${streamEvents.changes}\n`)) return;
  const known = messages.get(block) ?? { seen: parse(block), arrivals: [] };
  messages.set(block, known);
  known.arrivals.push(Date.now());
  counted.changes += known.seen.count;
}

function parse(block: string): SeenMessage {
  const changes = JSON.parse(block.slice(block.indexOf("\ndata: ") + 7)) as readonly Change[];
  const releases = changes.flatMap((change) =>
    change.type === "release"
      ? [{ app: change.app.name, cluster: change.cluster, isReady: change.state === "Ready" }]
      : [],
  );
  return { count: changes.length, releases, arrivedMs: [] };
}

function toSeen({
  seen,
  arrivals,
}: {
  readonly seen: SeenMessage;
  readonly arrivals: readonly number[];
}): SeenMessage {
  return { ...seen, arrivedMs: arrivals };
}
