/** Many viewers of a dashboard, in a process of their own: what they cost the hub is not counted with what they cost. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { giveWay } from "../measure/priority.ts";
import type { ViewerSession } from "./session.ts";

export type ViewersOrder =
  | { readonly kind: "open"; readonly sessions: readonly ViewerSession[] }
  | { readonly kind: "count" | "report" };

/** A message of the stream, which several viewers have received. */
export interface SeenMessage {
  /** The count of its changes. */
  readonly count: number;
  readonly releases: readonly {
    readonly app: string;
    /** `NAMESPACE/NAME`. */
    readonly cluster: string;
    readonly isReady: boolean;
  }[];
  /** One for each viewer, ms since 1970. */
  readonly arrivedMs: readonly number[];
}

/** What all viewers received, since they count. */
export interface Received {
  readonly bytes: number;
  readonly changes: number;
  /** How often a viewer had to read the fleet again. */
  readonly resets: number;
  /** Streams that have ended. */
  readonly ended: number;
  readonly messages: readonly SeenMessage[];
}

export type ViewersMessage = { readonly kind: "open" } | ({ readonly kind: "received" } & Received);

export interface Viewers {
  /** Counts from zero. */
  count(): void;
  received(): Promise<Received>;
  close(): Promise<void>;
}

const program = fileURLToPath(new URL("./viewers-main.ts", import.meta.url));

/** One viewer for each session, all in one process. Resolves when all streams are open. */
export async function startViewers(sessions: readonly ViewerSession[]): Promise<Viewers> {
  const child = fork(program, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit");
  if (child.pid !== undefined) giveWay(child.pid);
  const send = (order: ViewersOrder): void => void child.send(order);
  send({ kind: "open", sessions });
  await answer(child, "open");
  return {
    count: () => send({ kind: "count" }),
    async received() {
      send({ kind: "report" });
      return await answer(child, "received");
    },
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Rejects when the program ends instead. */
function answer<K extends ViewersMessage["kind"]>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<ViewersMessage, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void =>
      reject(new Error(`the viewers ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message: ViewersMessage) => {
      child.off("exit", onExit);
      if (isOf(message, kind)) resolve(message);
      else reject(new Error(`the viewers have sent ${message.kind} instead of ${kind}`));
    });
  });
}

function isOf<K extends ViewersMessage["kind"]>(
  message: ViewersMessage,
  kind: K,
): message is Extract<ViewersMessage, { kind: K }> {
  return message.kind === kind;
}
