/**
 * Frames of the socket between the agent and the relay (`local/tools/sandbox/relay/frame.go` has the same): a JSON text and a payload of
 * bytes behind it. Before both stand their lengths, of four bytes each, the greatest first.
 */
import type { Readable, Writable } from "node:stream";

export interface Frame {
  readonly text: unknown;
  readonly payload: Buffer;
}

export interface FrameLimits {
  /** The longest text, in bytes. */
  readonly textBytes: number;
  /** Called before a payload is read; throws if it is too much. */
  readonly admit: (payloadBytes: number) => void;
}

const headBytes = 8;

/** The frames of a stream, one at a time; it ends where the stream ends between two frames. Throws FrameProblem. */
export async function* readFrames(stream: Readable, limits: FrameLimits): AsyncGenerator<Frame> {
  const chunks = new ChunkReader(stream);
  for (;;) {
    const head = await chunks.read(headBytes);
    if (head === undefined) return;
    const [textBytes, payloadBytes] = [head.readUInt32BE(0), head.readUInt32BE(4)];
    if (textBytes > limits.textBytes)
      throw new FrameProblem(`a text has ${textBytes} bytes, more than ${limits.textBytes}`);
    limits.admit(payloadBytes);
    const text = await chunks.read(textBytes);
    const payload = await chunks.read(payloadBytes);
    if (text === undefined || payload === undefined) throw new FrameProblem("a frame is cut off");
    yield { text: parseText(text), payload };
  }
}

/** Waits until the stream takes more. */
export async function writeFrame(
  stream: Writable,
  text: unknown,
  payload: Uint8Array = new Uint8Array(),
) {
  const encoded = Buffer.from(JSON.stringify(text));
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(encoded.length, 0);
  head.writeUInt32BE(payload.length, 4);
  await new Promise<void>((resolve, reject) => {
    stream.write(Buffer.concat([head, encoded, payload]), (error) =>
      error == null ? resolve() : reject(error),
    );
  });
}

/** The other side sent what no relay sends. The message has nothing of it. */
export class FrameProblem extends Error {}

function parseText(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new FrameProblem("a text is not JSON");
  }
}

class ChunkReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #rest: Buffer[] = [];
  #bytes = 0;

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Undefined where the stream has ended before any of them; throws FrameProblem where it ends among them. */
  async read(count: number): Promise<Buffer | undefined> {
    while (this.#bytes < count) {
      const next = await this.#chunks.next();
      if (next.done === true) {
        if (this.#bytes === 0) return undefined;
        throw new FrameProblem("a frame is cut off");
      }
      this.#rest.push(next.value);
      this.#bytes += next.value.length;
    }
    const bytes = Buffer.concat(this.#rest);
    this.#rest.splice(0, this.#rest.length, bytes.subarray(count));
    this.#bytes -= count;
    return bytes.subarray(0, count);
  }
}
