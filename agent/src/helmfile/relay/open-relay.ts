/**
 * The agent's end of the relay: the socket to which the programs `helm` and `git` of a run of helmfile send their command lines, and
 * by which the agent takes and puts bytes inside of the sandbox. The agent opens no path of the run.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Socket } from "node:net";
import type * as z from "zod";
import { type Frame, FrameProblem, readFrames, writeFrame } from "./frames.ts";
import { commandSchema, type Reply, type Request, replySchema } from "./messages.ts";

export interface RelayCommand {
  readonly program: "helm" | "git";
  readonly arguments: readonly string[];
  /** The working directory, inside of the sandbox. */
  readonly directory: string;
}

/** How the program ends. */
export interface RelayEnd {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What the agent is able to do inside of the sandbox. Each throws RelayFailure if it could not be done there. */
export interface RelayHands {
  /** The standard input of the program. */
  input(limit: number): Promise<Buffer>;
  /** A file or folder; undefined if it does not exist. */
  take(path: string, limit: number): Promise<TakenEntry | undefined>;
  /** Writes a file. */
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes the files of a tar archive below a folder. */
  unpack(path: string, archive: Uint8Array): Promise<void>;
  /** Runs a program that the sandbox may execute, on the standard streams of the command; returns its exit code. */
  execute(program: string, args: readonly string[]): Promise<number>;
}

export type TakenEntry =
  | { readonly kind: "file"; readonly bytes: Buffer }
  /** A tar archive, with the paths from the folder. */
  | { readonly kind: "folder"; readonly archive: Buffer };

/** Something could not be done inside of the sandbox, for the reason in the message: by the tenant's files, or by the sandbox. */
export class RelayFailure extends Error {}

/** Answers a command. What it throws ends the program with code 1; the message is printed. */
export type AnswerCommand = (command: RelayCommand, hands: RelayHands) => Promise<RelayEnd>;

export interface RelayOptions {
  /** The path of the socket; at most 107 bytes. */
  readonly path: string;
  readonly answer: AnswerCommand;
  /** For all payloads of the run together. */
  readonly maxBytes: number;
}

export interface Relay extends AsyncDisposable {
  /** What the programs of the run get. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the run did that exceeds the limit of its bytes, for messages: the connection that did it was closed. */
  readonly exceeded: string | undefined;
}

/** A text has a command line; Linux passes on at most 2 MiB of one. */
const maxTextBytes = 4 * 1024 * 1024;
/** helmfile runs one command for each processor of its own, or for each release. */
const maxConnections = 64;

export async function openRelay({ path, answer, maxBytes }: RelayOptions): Promise<Relay> {
  const token = randomBytes(32).toString("hex");
  const sockets = new Set<Socket>();
  let bytes = 0;
  let exceeded: string | undefined;
  const admit = (payloadBytes: number): void => {
    bytes += payloadBytes;
    if (bytes <= maxBytes) return;
    exceeded ??= `sent more than ${maxBytes / 1024 / 1024} MiB to the agent`;
    throw new FrameProblem(exceeded);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // The end of the connection is seen by who reads and writes.
    socket.on("error", () => undefined);
    void serve(socket, { token, answer, admit }).finally(() => socket.destroy());
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(path, resolve);
  });
  return {
    environment: { FLOTILLA_RELAY_SOCKET: path, FLOTILLA_RELAY_TOKEN: token },
    get exceeded() {
      return exceeded;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Served {
  readonly token: string;
  readonly answer: AnswerCommand;
  readonly admit: (payloadBytes: number) => void;
}

/** Never throws: a connection that breaks off is one of a process that was ended. */
async function serve(socket: Socket, { token, answer, admit }: Served): Promise<void> {
  const frames = readFrames(socket, { textBytes: maxTextBytes, admit });
  try {
    const { token: given, ...command } = await nextText(frames, commandSchema);
    if (!isEqual(given, token)) return;
    await end(socket, await answer(command, handsOf(socket, frames)));
  } catch (thrown) {
    if (thrown instanceof FrameProblem) return;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    await end(socket, { code: 1, stderr: `Error: ${why}\n` }).catch(() => undefined);
  }
}

function isEqual(text: string, expected: string): boolean {
  const [bytes, expectedBytes] = [Buffer.from(text), Buffer.from(expected)];
  return bytes.length === expectedBytes.length && timingSafeEqual(bytes, expectedBytes);
}

type Frames = AsyncGenerator<Frame>;

async function nextFrame(frames: Frames): Promise<Frame> {
  const next = await frames.next();
  if (next.done === true) throw new FrameProblem("the program has ended");
  return next.value;
}

async function nextText<T>(frames: Frames, schema: z.ZodType<T>): Promise<T> {
  return parsed(schema, (await nextFrame(frames)).text);
}

function parsed<T>(schema: z.ZodType<T>, text: unknown): T {
  const result = schema.safeParse(text);
  if (!result.success) throw new FrameProblem("a text is none of the relay's");
  return result.data;
}

function handsOf(socket: Socket, frames: Frames): RelayHands {
  async function ask(
    request: Request,
    payload?: Uint8Array,
  ): Promise<Reply & Pick<Frame, "payload">> {
    await writeFrame(socket, request, payload);
    const frame = await nextFrame(frames);
    const reply = parsed(replySchema, frame.text);
    if (reply.kind === "failed") throw new RelayFailure(reply.why);
    return { ...reply, payload: frame.payload };
  }
  const unexpected = () => new FrameProblem("the reply answers something else than was asked");
  return {
    async input(limit) {
      const reply = await ask({ ask: "input", limit });
      if (reply.kind !== "file") throw unexpected();
      return withinLimit(reply.payload, limit);
    },
    async take(path, limit) {
      const reply = await ask({ ask: "take", path, limit });
      switch (reply.kind) {
        case "absent":
          return undefined;
        case "file":
          return { kind: "file", bytes: withinLimit(reply.payload, limit) };
        case "folder":
          return { kind: "folder", archive: withinLimit(reply.payload, limit) };
        default:
          throw unexpected();
      }
    },
    async put(path, bytes) {
      await ask({ ask: "put", path }, bytes);
    },
    async unpack(path, archive) {
      await ask({ ask: "unpack", path }, archive);
    },
    async execute(program, args) {
      const reply = await ask({ ask: "execute", program, arguments: args });
      if (reply.kind !== "done") throw unexpected();
      return reply.code;
    },
  };
}

function withinLimit(bytes: Buffer, limit: number): Buffer {
  if (bytes.length > limit) throw new FrameProblem("it sent more than was asked for");
  return bytes;
}

async function end(socket: Socket, { code, stdout = "", stderr = "" }: RelayEnd): Promise<void> {
  const out = Buffer.from(stdout);
  const payload = Buffer.concat([out, Buffer.from(stderr)]);
  await writeFrame(socket, { ask: "exit", code, stdout: out.length } satisfies Request, payload);
  await new Promise<void>((resolve) => socket.end(resolve));
}
