/** The cosign signatures of a manifest: behind the tag `sha256-HEX.sig`, and among the referrers of the manifest. */

import * as z from "zod";
import { parseBounded } from "../../../text/json/index.ts";
import { chartErrors, type RepositoryAccess, sha256Schema } from "../index.ts";
import { discard, type Exchange, readBody, responseError } from "../transport/index.ts";
import type { OciRegistry } from "./registry.ts";
import { get, readBlob, requestManifest } from "./registry-reads.ts";
import type { OciSignature } from "./signature.ts";

interface Query {
  readonly repository: string;
  readonly access: RepositoryAccess;
  readonly signal?: AbortSignal | undefined;
}

const simpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json";
const signatureAnnotation = "dev.cosignproject.cosign/signature";
const bundleType = /^application\/vnd\.dev\.sigstore\.bundle\b/;
const signatureTypes = [
  bundleType,
  /^application\/vnd\.dev\.cosign\.artifact\.sig\.v1\+json$/,
  /^application\/vnd\.dev\.cosign\.simplesigning\.v1\+json$/,
];

const maxManifestBytes = 1024 * 1024;
const maxBlobBytes = 1024 * 1024;
/** Everybody who may push can add signatures. */
const maxReferrers = 16;
const maxLayers = 32;

const manifestSchema = z.object({
  layers: z.array(
    z.object({
      mediaType: z.string(),
      digest: sha256Schema,
      annotations: z.record(z.string(), z.string()).nullish(),
    }),
  ),
});
const indexSchema = z.object({
  manifests: z.array(z.object({ digest: sha256Schema, artifactType: z.string().nullish() })),
});

export async function readSignatures(
  registry: OciRegistry,
  query: Query,
  digest: string,
): Promise<readonly OciSignature[]> {
  const hex = digest.slice("sha256:".length);
  const tagged = await signaturesOf(`sha256-${hex}.sig`);
  const found: OciSignature[] = [...tagged];
  for (const referrer of await referrers()) found.push(...(await signaturesOf(referrer)));
  return found;

  async function signaturesOf(reference: string): Promise<readonly OciSignature[]> {
    const json = await jsonOf(await requestManifest(registry, "GET", query, reference));
    const { data } = manifestSchema.safeParse(json);
    const read = (data?.layers ?? []).slice(0, maxLayers).map(async (layer) => {
      const signature = layer.annotations?.[signatureAnnotation];
      if (layer.mediaType === simpleSigning && signature !== undefined) {
        const payload = await readBlob(registry, query, layer.digest, maxBlobBytes);
        return [{ kind: "simple" as const, payload, signature }];
      }
      if (!bundleType.test(layer.mediaType)) return [];
      const bytes = await readBlob(registry, query, layer.digest, maxBlobBytes);
      return [{ kind: "bundle" as const, bundle: parseJson(bytes) }];
    });
    return (await Promise.all(read)).flat();
  }

  /** By the API of the distribution specification, or the tag that registries without it have. */
  async function referrers(): Promise<readonly string[]> {
    const response = await get(registry, query, {
      target: `referrers/${digest}`,
      accept: "application/vnd.oci.image.index.v1+json",
    });
    const json =
      (await jsonOf(response)) ??
      (await jsonOf(await requestManifest(registry, "GET", query, `sha256-${hex}`)));
    const { data } = indexSchema.safeParse(json);
    return (data?.manifests ?? [])
      .filter(({ artifactType }) => signatureTypes.some((type) => type.test(artifactType ?? "")))
      .slice(-maxReferrers)
      .map((manifest) => manifest.digest);
  }

  /** Undefined: there is none. */
  async function jsonOf(response: Exchange): Promise<unknown> {
    const isMissing = [400, 404, 405].includes(response.status);
    if (isMissing) {
      await discard(response.body);
      return undefined;
    }
    if (response.status !== 200)
      throw await responseError(response, query.access, chartErrors.REGISTRY_ANSWER);
    const { bytes } = await readBody(response, {
      maxBytes: maxManifestBytes,
      tooLarge: chartErrors.REGISTRY_ANSWER,
    });
    return parseJson(bytes);
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseBounded(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
