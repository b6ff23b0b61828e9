/** Reads bodies as they are stored: an object that was stored compressed stays so. */
import { AppError } from "../../../runtime/errors/index.ts";
import {
  abandon,
  type BodyLimit,
  beforeDecoding,
  describeBytes,
  type Exchange,
} from "../transport/index.ts";

export async function readRaw(response: Exchange, limit: BodyLimit): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await passRaw(response, limit, (chunk) => {
    chunks.push(chunk);
  });
  const bytes = Buffer.concat(chunks);
  await beforeDecoding(bytes.length);
  return bytes;
}

/** Passes the body on while it arrives. An AppError of `take` is thrown unchanged. */
export async function passRaw(
  response: Exchange,
  { maxBytes, tooLarge }: BodyLimit,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes)
        throw new AppError(
          tooLarge,
          `${response.request}: the response is larger than ${describeBytes(maxBytes)}`,
        );
      await take(chunk);
    }
  } catch (thrown) {
    abandon(response.body);
    throw response.failure(thrown);
  }
}
