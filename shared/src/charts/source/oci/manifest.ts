/** The manifest of a tag: its digest, computed over its bytes, and the layer with the archive of the chart. */

import * as z from "zod";
import { AppError } from "../../../runtime/errors/index.ts";
import { chartErrors, type RepositoryAccess, sha256Schema } from "../index.ts";
import { discard, readBody, responseError } from "../transport/index.ts";
import { chartLayers, findChart, indexSchema, type ReadManifest } from "./chart-in-index.ts";
import type { OciRegistry } from "./registry.ts";
import { jsonOf, maxManifestBytes, readManifestOf, requestManifest } from "./registry-reads.ts";

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

const manifestSchema = z.object({
  layers: z
    .array(z.object({ mediaType: z.string(), digest: z.string(), size: z.int().nonnegative() }))
    .optional(),
});

/** The digest that a tag points to, from the header of the registry; undefined without one. */
export async function tagDigest(
  registry: OciRegistry,
  query: ManifestQuery,
): Promise<string | undefined> {
  const response = await requestManifest(registry, "HEAD", query, query.tag);
  await discard(response.body);
  return response.status === 200 ? response.header("docker-content-digest") : undefined;
}

/** The chart of a tag; undefined when the repository has no such tag. */
export async function readManifest(
  registry: OciRegistry,
  query: ManifestQuery,
): Promise<ChartManifest | undefined> {
  const response = await requestManifest(registry, "GET", query, query.tag);
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
  const name = `${query.repository}:${query.tag}`;
  const found = { request: response.request, json: jsonOf(body.bytes) };
  const index = indexSchema.safeParse(found.json);
  // The digest is the tag's, which its index binds to the manifest of the chart.
  const manifestDigest = body.digest;
  if (!index.success) return { manifestDigest, ...chartLayer(found, name) };
  const { repository } = query;
  const chart = await findChart(index.data, { repository, name }, (digest) =>
    readManifestOf(registry, query, digest),
  );
  if (chart === undefined)
    throw new AppError(
      chartErrors.CHART_NOT_FOUND,
      `${response.request}: ${name} is a list of images, and no Helm chart is in it`,
    );
  return { manifestDigest, ...chartLayer(chart, name) };
}

function chartLayer(
  found: ReadManifest,
  name: string,
): { readonly layerDigest: string; readonly layerSizeBytes: number } {
  const manifest = manifestSchema.safeParse(found.json);
  if (!manifest.success)
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${found.request}: the response is not a manifest`,
    );
  const { layers } = manifest.data;
  const layer = chartLayers
    .map((layerType) => layers?.find(({ mediaType }) => mediaType === layerType))
    .find((each) => each !== undefined);
  if (layer === undefined)
    throw new AppError(
      chartErrors.CHART_NOT_FOUND,
      `${found.request}: ${name} is an artifact without a chart, not a Helm chart`,
    );
  if (!sha256Schema.safeParse(layer.digest).success)
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${found.request}: the chart of ${name} has a digest that is not a sha256`,
    );
  return { layerDigest: layer.digest, layerSizeBytes: layer.size };
}
