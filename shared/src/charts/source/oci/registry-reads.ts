/** Reads manifests and small blobs of any artifact. */

import { AppError } from "../../../runtime/errors/index.ts";
import { parseBounded } from "../../../text/json/index.ts";
import { chartErrors, type RepositoryAccess } from "../index.ts";
import { type Exchange, readBody, responseError } from "../transport/index.ts";
import type { ReadManifest } from "./chart-in-index.ts";
import type { OciRegistry } from "./registry.ts";

interface Query {
  readonly repository: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
}

const accept = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
].join(", ");
const timeoutMs = 60_000;
export const maxManifestBytes = 4 * 1024 * 1024;

/** `reference`: a tag or a digest. */
export function requestManifest(
  registry: OciRegistry,
  method: "GET" | "HEAD",
  query: Query,
  reference: string,
): Promise<Exchange> {
  return get(registry, query, { method, target: `manifests/${reference}`, accept });
}

/** `target`: relative to the repository. */
export function get(
  registry: OciRegistry,
  { repository, access, signal }: Query,
  request: { readonly method?: "GET" | "HEAD"; readonly target: string; readonly accept: string },
): Promise<Exchange> {
  return registry.send({
    method: "GET",
    repository,
    access,
    signal,
    timeoutMs,
    ...request,
    errorKind: chartErrors.REGISTRY_UNREACHABLE,
  });
}

/** The manifest of a digest, which is checked. */
export async function readManifestOf(
  registry: OciRegistry,
  query: Query,
  digest: string,
): Promise<ReadManifest> {
  const response = await requestManifest(registry, "GET", query, digest);
  if (response.status !== 200)
    throw await responseError(response, query.access, chartErrors.REGISTRY_ANSWER);
  const body = await readBody(response, {
    maxBytes: maxManifestBytes,
    tooLarge: chartErrors.REGISTRY_ANSWER,
  });
  if (body.digest === digest) return { request: response.request, json: jsonOf(body.bytes) };
  throw new AppError(
    chartErrors.CHART_DIGEST_MISMATCH,
    `${response.request}: manifest digest mismatch: downloaded ${body.digest}`,
  );
}

/** Undefined when it is not JSON. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseBounded(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The bytes of a blob, whose digest is checked. */
export async function readBlob(
  registry: OciRegistry,
  query: Query,
  digest: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const response = await get(registry, query, { target: `blobs/${digest}`, accept: "*/*" });
  if (response.status !== 200)
    throw await responseError(response, query.access, chartErrors.REGISTRY_ANSWER);
  const body = await readBody(response, { maxBytes, tooLarge: chartErrors.REGISTRY_ANSWER });
  if (body.digest === digest) return body.bytes;
  throw new AppError(
    chartErrors.CHART_DIGEST_MISMATCH,
    `${response.request}: blob digest mismatch: downloaded ${body.digest}`,
  );
}
