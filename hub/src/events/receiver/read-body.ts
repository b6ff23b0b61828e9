/** Reads the body of a request, with limits. */
import type { IncomingMessage } from "node:http";

export interface BodyLimits {
  readonly maxBytes: number;
  /** For the whole body; a slower request is destroyed. */
  readonly timeoutMs: number;
}

/** Whether the request announces more than the limit. */
export function announcesMore({ headers }: IncomingMessage, maxBytes: number): boolean {
  return Number(headers["content-length"] ?? 0) > maxBytes;
}

/** Undefined when it is too large, or was not received. */
export async function readBody(
  request: IncomingMessage,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<Uint8Array | undefined> {
  if (announcesMore(request, maxBytes)) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const tooSlow = setTimeout(() => request.destroy(), timeoutMs);
  try {
    // A destroyed request could not be answered.
    const incoming: AsyncIterable<Uint8Array> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of incoming) {
      size += chunk.byteLength;
      if (size > maxBytes) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  } finally {
    clearTimeout(tooSlow);
  }
}
