/** The manifest of a tag: its digest, computed over its bytes, and the layer with the archive of the chart. */
import * as z from "zod";
import { AppError } from "../../errors/index.ts";
import { chartErrors, type RepositoryAccess, sha256Schema } from "../index.ts";
import {
  discard,
  type Exchange,
  type ReadBody,
  readBody,
  responseError,
} from "../transport/index.ts";
import type { OciRegistry } from "./registry.ts";

export interface ChartManifest {
  readonly manifestDigest: string;
  readonly layerDigest: string;
  readonly layerSizeBytes: number;
}

export interface ManifestQuery {
  readonly repository: string;
  readonly tag: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
}

const chartLayers = ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];
const imageManifests = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const lists = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
const maxManifestBytes = 4 * 1024 * 1024;
const manifestTimeoutMs = 60_000;

const manifestSchema = z.object({
  mediaType: z.string().optional(),
  layers: z
    .array(z.object({ mediaType: z.string(), digest: z.string(), size: z.int().nonnegative() }))
    .optional(),
});

/** The digest that a tag points to, from the header of the registry; undefined without one. */
export async function tagDigest(
  registry: OciRegistry,
  query: ManifestQuery,
): Promise<string | undefined> {
  const response = await requestManifest(registry, "HEAD", query);
  await discard(response.body);
  return response.status === 200 ? response.header("docker-content-digest") : undefined;
}

/** The chart of a tag; undefined when the repository has no such tag. */
export async function readManifest(
  registry: OciRegistry,
  query: ManifestQuery,
): Promise<ChartManifest | undefined> {
  const response = await requestManifest(registry, "GET", query);
  if (response.status === 404) {
    await discard(response.body);
    return undefined;
  }
  if (response.status !== 200)
    throw await responseError(response, query.access, chartErrors.REGISTRY_ANSWER);
  const body = await readBody(response, {
    maxBytes: maxManifestBytes,
    tooLarge: chartErrors.REGISTRY_ANSWER,
  });

  const claimed = response.header("docker-content-digest");
  if (claimed?.startsWith("sha256:") === true && claimed !== body.digest) {
    throw new AppError(
      chartErrors.CHART_DIGEST_MISMATCH,
      `${response.request}: manifest digest mismatch: downloaded ${body.digest}, the header says ${claimed}`,
    );
  }
  return { manifestDigest: body.digest, ...chartLayer(response, body, query) };
}

function requestManifest(
  registry: OciRegistry,
  method: "GET" | "HEAD",
  query: ManifestQuery,
): Promise<Exchange> {
  return registry.send({
    method,
    repository: query.repository,
    access: query.access,
    signal: query.signal,
    target: `manifests/${query.tag}`,
    accept: [...imageManifests, ...lists].join(", "),
    timeoutMs: manifestTimeoutMs,
    errorKind: chartErrors.REGISTRY_UNREACHABLE,
  });
}

function chartLayer(
  response: Exchange,
  body: ReadBody,
  query: ManifestQuery,
): { readonly layerDigest: string; readonly layerSizeBytes: number } {
  const name = `${query.repository}:${query.tag}`;
  const manifest = parseManifest(response, body);
  const type = manifest.mediaType ?? response.header("content-type") ?? "";
  const layer = chartLayers
    .map((layerType) => manifest.layers?.find(({ mediaType }) => mediaType === layerType))
    .find((found) => found !== undefined);
  if (layer === undefined) {
    const what = lists.some((list) => type.startsWith(list))
      ? "a list of images"
      : "an artifact without a chart";
    throw new AppError(
      chartErrors.CHART_NOT_FOUND,
      `${response.request}: ${name} is ${what}, not a Helm chart`,
    );
  }
  if (!sha256Schema.safeParse(layer.digest).success) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${response.request}: the chart of ${name} has a digest that is not a sha256`,
    );
  }
  return { layerDigest: layer.digest, layerSizeBytes: layer.size };
}

function parseManifest(response: Exchange, body: ReadBody): z.infer<typeof manifestSchema> {
  try {
    return manifestSchema.parse(JSON.parse(new TextDecoder().decode(body.bytes)));
  } catch (cause) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${response.request}: the response is not a manifest`,
      { cause },
    );
  }
}
