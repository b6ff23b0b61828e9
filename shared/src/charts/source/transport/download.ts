/** Downloads a pinned archive over HTTP, and checks its size, format and digest while it streams. */
import { createHash } from "node:crypto";
import { AppError } from "../../../runtime/errors/index.ts";
import {
  type ArchivePin,
  archiveDigest,
  chartErrors,
  type DownloadPin,
  type FetchedArchive,
  type FetchRequest,
  type HttpPin,
  homeAuthorization,
  type WriteChunk,
} from "../index.ts";
import { describeBytes, encodingOf, unexpectedEncoding } from "./body.ts";
import { abandon, type Exchange, type Exchanger } from "./exchange.ts";
import { responseError } from "./response-error.ts";

const gzipMagic = [0x1f, 0x8b];

/** Fetches a pin by its HTTP address. Credentials are sent to the home of `access` only. */
export async function fetchByUrl(
  exchange: Exchanger,
  pin: HttpPin | ArchivePin,
  write: WriteChunk,
  request: FetchRequest,
): Promise<FetchedArchive> {
  const url = new URL(pin.url);
  const { access, timeoutMs, signal } = request;
  const response = await exchange({
    method: "GET",
    url,
    access,
    authorization: homeAuthorization(access, url),
    timeoutMs,
    signal,
    errorKind: chartErrors.CHART_DOWNLOAD,
  });
  return await receiveArchive(response, pin, write, request);
}

/** Passes the body of `response` on to `write`. Rejects when status, encoding or bytes are not what the pin asks for. */
export async function receiveArchive(
  response: Exchange,
  pin: DownloadPin,
  write: WriteChunk,
  { access, maxBytes }: FetchRequest,
): Promise<FetchedArchive> {
  if (response.status !== 200)
    throw await responseError(response, access, chartErrors.CHART_DOWNLOAD);
  try {
    const encoding = encodingOf(response);
    // Requests for archives accept no encoding; a server that names gzip for a .tgz means the archive itself.
    if (encoding !== "identity" && encoding !== "gzip") throw unexpectedEncoding(encoding);
    return await receive(response, pin, write, maxBytes);
  } catch (thrown) {
    abandon(response.body);
    throw response.failure(thrown);
  }
}

async function receive(
  response: Exchange,
  pin: DownloadPin,
  write: WriteChunk,
  maxBytes: number,
): Promise<FetchedArchive> {
  const limit = pin.kind === "oci" ? Math.min(pin.layerSizeBytes, maxBytes) : maxBytes;
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let head: readonly number[] = [];
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > limit) throw tooLarge(response, pin, limit);
    if (head.length < 2) head = [...head, ...chunk.subarray(0, 2)].slice(0, 2);
    hash.update(chunk);
    await write(chunk);
  }
  const digest = `sha256:${hash.digest("hex")}`;
  // Checked before the digest: the page of a login or a proxy is not a chart that was published again.
  if (!gzipMagic.every((byte, at) => head[at] === byte)) {
    throw new AppError(
      chartErrors.CHART_DOWNLOAD,
      `${response.request}: the response is not a packaged chart (.tgz), ${describeBytes(sizeBytes)}`,
    );
  }
  const expected = archiveDigest(pin);
  if (expected !== undefined && digest !== expected) throw otherDigest(response, pin, digest);
  return { digest, sizeBytes };
}

function otherDigest(response: Exchange, pin: DownloadPin, digest: string): AppError {
  const [source, remedy] =
    pin.kind === "oci"
      ? ["the manifest", ""]
      : ["index.yaml", "; fix the index or publish the chart again"];
  return new AppError(
    chartErrors.CHART_DIGEST_MISMATCH,
    `${response.request}: chart digest mismatch: downloaded ${digest}, ${source} says ${archiveDigest(pin)}${remedy}`,
  );
}

function tooLarge(response: Exchange, pin: DownloadPin, limit: number): AppError {
  return pin.kind === "oci" && limit === pin.layerSizeBytes
    ? new AppError(
        chartErrors.CHART_DIGEST_MISMATCH,
        `${response.request}: chart size mismatch: downloaded more than the ${limit} bytes that the manifest says`,
      )
    : new AppError(
        chartErrors.CHART_DOWNLOAD,
        `${response.request}: the chart is larger than ${describeBytes(limit)}`,
      );
}
