/**
 * Artifacts of registries, as Flux's OCIRepository reads them: the revision that a reference has now (one HEAD request for a
 * tag), and the layer, annotations and chart of a revision.
 */

import * as z from "zod";
import { AppError } from "../../../runtime/errors/index.ts";
import type { Patterns } from "../../../text/regex/index.ts";
import { chartErrors, type RepositoryAccess, sha256Schema } from "../index.ts";
import { discard, readBody, responseError } from "../transport/index.ts";
import { findChart, helmConfig, indexSchema, type ReadManifest } from "./chart-in-index.ts";
import { chooseTag, type OciReference } from "./oci-reference.ts";
import type { OciRegistry } from "./registry.ts";
import {
  jsonOf,
  maxManifestBytes,
  readBlob,
  readManifestOf,
  requestManifest,
} from "./registry-reads.ts";
import { hasSignature } from "./signature.ts";
import { readSignatures } from "./signatures.ts";
import type { ListTags } from "./tags.ts";

export interface OciQuery {
  /** `oci://host/path`. */
  readonly repository: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
}

export interface OciArtifact {
  /** The annotations of the manifest, without the annotations of an index of platforms. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly layer: OciLayer;
  /** The chart of a packaged Helm chart; absent for other artifacts. */
  readonly chart?: { readonly name: string; readonly version: string };
}

export interface OciLayer {
  readonly mediaType: string;
  readonly digest: string;
  readonly sizeBytes: number;
}

/** Throws AppErrors and RepositoryErrors that name the request. */
export interface OciArtifacts {
  /** The tag that a reference names; undefined for a reference by digest. */
  tagOf(
    query: OciQuery,
    ref: OciReference,
    mediaType: string | undefined,
  ): Promise<string | undefined>;
  /** The digest that a tag points to. */
  digestOf(query: OciQuery, tag: string): Promise<string>;
  /** `mediaType`: of the layer; default: the first layer. */
  read(query: OciQuery, digest: string, mediaType: string | undefined): Promise<OciArtifact>;
  /** Whether one of the public keys (PEM) has signed a digest with cosign. */
  isSigned(query: OciQuery, digest: string, publicKeys: readonly string[]): Promise<boolean>;
}

const texts = z.record(z.string(), z.string());
const descriptor = z.object({
  mediaType: z.string(),
  digest: sha256Schema,
  size: z.int().nonnegative(),
});
const manifestSchema = z.object({
  config: descriptor.nullish(),
  layers: z.array(descriptor),
  annotations: texts.nullish(),
});
const chartSchema = z.object({ name: z.string().min(1), version: z.string().min(1) });

const maxConfigBytes = 1024 * 1024;

export function createOciArtifacts(deps: {
  readonly registry: OciRegistry;
  readonly listTags: ListTags;
  readonly patterns: Patterns;
}): OciArtifacts {
  const { registry, listTags, patterns } = deps;

  async function manifestOf(
    query: OciQuery,
    digest: string,
  ): Promise<z.infer<typeof manifestSchema>> {
    const read = (of: string): Promise<ReadManifest> => readManifestOf(registry, query, of);
    const found = await read(digest);
    const index = indexSchema.safeParse(found.json);
    if (!index.success) return parse(manifestSchema, found);
    // As Flux, which pulls for this platform wherever it runs.
    const child = index.data.manifests.find(
      ({ platform }) =>
        platform == null || (platform.os === "linux" && platform.architecture === "amd64"),
    );
    const own = child && (await read(child.digest));
    if (
      own !== undefined &&
      manifestSchema.safeParse(own.json).data?.config?.mediaType === helmConfig
    )
      return parse(manifestSchema, own);
    const name = `${query.repository}@${digest}`;
    const chart = await findChart(index.data, { repository: query.repository, name }, read);
    const manifest = chart ?? own;
    if (manifest !== undefined) return parse(manifestSchema, manifest);
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${found.request}: no chart and no child with platform linux/amd64 in the index`,
    );
  }

  return {
    async tagOf(query, { digest, semver = "", semverFilter, tag = "" }, mediaType) {
      if (digest !== undefined && digest !== "") return undefined;
      if (semver === "") return checkedTag(tag === "" ? "latest" : tag);
      return await chooseTag(await listTags(query), { semver, semverFilter, mediaType }, patterns);
    },
    async digestOf(query, tag) {
      const head = await requestManifest(registry, "HEAD", query, tag);
      await discard(head.body);
      const header = head.header("docker-content-digest");
      if (head.status === 200 && sha256Schema.safeParse(header).success && header !== undefined)
        return header;
      const response = await requestManifest(registry, "GET", query, tag);
      if (response.status !== 200)
        throw await responseError(response, query.access, chartErrors.CHART_NOT_FOUND);
      const body = await readBody(response, {
        maxBytes: maxManifestBytes,
        tooLarge: chartErrors.REGISTRY_ANSWER,
      });
      return body.digest;
    },
    async read(query, digest, mediaType = "") {
      const { config, layers, annotations } = await manifestOf(query, digest);
      const layer =
        mediaType === "" ? layers[0] : layers.find((each) => each.mediaType === mediaType);
      if (layer === undefined)
        throw new AppError(
          chartErrors.CHART_NOT_FOUND,
          mediaType === ""
            ? `${query.repository}@${digest}: no layers found in the artifact`
            : `${query.repository}@${digest}: no layer with media type '${mediaType}' in the artifact`,
        );
      const chart =
        config?.mediaType === helmConfig
          ? chartSchema.safeParse(
              jsonOf(await readBlob(registry, query, config.digest, maxConfigBytes)),
            )
          : undefined;
      return {
        annotations: annotations ?? {},
        layer: { mediaType: layer.mediaType, digest: layer.digest, sizeBytes: layer.size },
        ...(chart?.success === true && { chart: chart.data }),
      };
    },
    async isSigned(query, digest, publicKeys) {
      const signatures = await readSignatures(registry, query, digest);
      return signatures.some((signature) => hasSignature(signature, digest, publicKeys));
    },
  };
}

/** Only what is a tag is safe in an address. */
function checkedTag(tag: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(tag)) return tag;
  throw new AppError(chartErrors.CHART_SOURCE_INVALID, "spec.ref.tag is not a tag of a registry");
}

function parse<T>(
  schema: z.ZodType<T>,
  { request, json }: { readonly request: string; readonly json: unknown },
): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new AppError(chartErrors.REGISTRY_ANSWER, `${request}: the response is not a manifest`);
}
