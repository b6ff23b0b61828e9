/**
 * The stream of changes: reconnects by itself, from where it was, and says whether it is connected. Silence means a broken
 * connection, because the hub sends something every few seconds.
 */
import type { Change } from "@flotilla/shared/dashboard";

export interface ChangesListener {
  onChanges(changes: readonly Change[], position: string): void;
  /** The fleet has to be read again. */
  onReset(): void;
  onConnected(): void;
  /** Nothing has arrived since `sinceMs` (ms since 1970), so what is shown may be old. */
  onDisconnected(sinceMs: number): void;
  /** The session has ended. */
  onUnauthorized(): void;
}

export interface StreamDeps {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly setTimeout: (run: () => void, delayMs: number) => number;
  readonly clearTimeout: (timer: number) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Several heartbeats. */
export const silenceMs = 12_000;
const backoff = { firstMs: 500, maxMs: 5_000 } as const;

/** Follows the changes after `position` until the returned function is called. */
export function followChanges(
  position: string,
  listener: ChangesListener,
  deps: StreamDeps = browser,
): () => void {
  const ending = new AbortController();
  let after = position;
  let failures = 0;
  let aliveMs = deps.now();

  async function connect(): Promise<void> {
    const attempt = new AbortController();
    const signal = AbortSignal.any([ending.signal, attempt.signal]);
    let timer = deps.setTimeout(() => attempt.abort(), silenceMs);
    const alive = () => {
      aliveMs = deps.now();
      deps.clearTimeout(timer);
      timer = deps.setTimeout(() => attempt.abort(), silenceMs);
    };
    try {
      const path = `/api/v1/changes?after=${encodeURIComponent(after)}`;
      const response = await deps.fetch(path, { signal });
      if (response.status === 401) return void listener.onUnauthorized();
      if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
      listener.onConnected();
      failures = 0;
      for await (const message of messagesOf(response.body, alive)) {
        if (message.event === "reset") return void listener.onReset();
        if (message.event !== "changes") continue;
        const position = message.id === "" ? after : message.id;
        listener.onChanges(JSON.parse(message.data) as Change[], position);
        after = position;
      }
    } catch {
      // Cut, silent or refused: all of them are retried.
    } finally {
      deps.clearTimeout(timer);
    }
    if (ending.signal.aborted) return;
    listener.onDisconnected(aliveMs);
    failures += 1;
    const waitMs = Math.min(backoff.maxMs, backoff.firstMs * 2 ** (failures - 1));
    const retry = deps.setTimeout(() => void connect(), waitMs);
    ending.signal.addEventListener("abort", () => deps.clearTimeout(retry), { once: true });
  }

  void connect();
  return () => ending.abort();
}

const browser: StreamDeps = {
  fetch: (path, init) => fetch(path, init),
  setTimeout: (run, delayMs) => window.setTimeout(run, delayMs),
  clearTimeout: (timer) => window.clearTimeout(timer),
  now: () => Date.now(),
};

interface Message {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Server-sent events; `alive` is called for everything that arrives, comments included. */
async function* messagesOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  alive: () => void,
): AsyncIterable<Message> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield parseMessage(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Pure. */
export function parseMessage(block: string): Message {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart());
  }
  const field = (name: string) => fields.get(name) ?? "";
  return { event: field("event"), id: field("id"), data: field("data") };
}
