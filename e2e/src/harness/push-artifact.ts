/** Pushes artifacts to a real registry as its API has it: charts under any tag, with any layers, and cosign's signatures of them. */
import assert from "node:assert/strict";
import { createHash, createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import type { ChartArchive } from "./chart-archive.ts";

export interface ArtifactTarget {
  /** `http://host:port`. */
  readonly registry: string;
  /** The path of the repository. */
  readonly repository: string;
  readonly login?: { readonly username: string; readonly password: string };
}

export interface Layer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface SigningKey {
  readonly publicPem: string;
  readonly privatePem: string;
}

export const chartLayerType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";

/** The chart alone, as `helm push` does, under this tag. Resolves with the digest of the manifest. */
export function pushChartAs(
  target: ArtifactTarget,
  tag: string,
  archive: ChartArchive,
): Promise<string> {
  return pushLayers(target, tag, archive, [{ mediaType: chartLayerType, bytes: archive.bytes }]);
}

/** The metadata of a chart with these layers. */
export async function pushLayers(
  target: ArtifactTarget,
  tag: string,
  { name, version }: Pick<ChartArchive, "name" | "version">,
  layers: readonly Layer[],
): Promise<string> {
  const config = {
    mediaType: "application/vnd.cncf.helm.config.v1+json",
    bytes: Buffer.from(JSON.stringify({ apiVersion: "v2", name, version })),
  };
  return (await pushManifest(target, tag, { config, layers })).digest;
}

/** An index that has a container image and the chart, under the chart's version, as some projects publish both. */
export async function pushChartIndex(target: ArtifactTarget, archive: ChartArchive): Promise<void> {
  const { name, version } = archive;
  const image = await pushManifest(target, `${version}-image`, {
    config: {
      mediaType: "application/vnd.oci.image.config.v1+json",
      bytes: Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux" })),
    },
    layers: [
      { mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", bytes: Buffer.from("layer") },
    ],
  });
  const chart = await pushManifest(target, `${version}-chart`, {
    config: {
      mediaType: "application/vnd.cncf.helm.config.v1+json",
      bytes: Buffer.from(JSON.stringify({ apiVersion: "v2", name, version })),
    },
    layers: [{ mediaType: chartLayerType, bytes: archive.bytes }],
  });
  await putManifest(target, version, indexType, {
    schemaVersion: 2,
    mediaType: indexType,
    manifests: [{ ...image, platform: { architecture: "amd64", os: "linux" } }, chart],
  });
}

export function createSigningKey(): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** As `cosign sign --key` has signed until version 2: behind a tag of the digest. */
export async function signArtifact(
  target: ArtifactTarget,
  digest: string,
  key: SigningKey,
): Promise<void> {
  const payload = Buffer.from(
    JSON.stringify({
      critical: {
        identity: { "docker-reference": target.repository },
        image: { "docker-manifest-digest": digest },
        type: "cosign container image signature",
      },
      optional: null,
    }),
  );
  const layer = {
    mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
    bytes: payload,
    annotations: { "dev.cosignproject.cosign/signature": signatureOf(payload, key) },
  };
  await pushManifest(target, `${digest.replace(":", "-")}.sig`, {
    config: { mediaType: "application/vnd.oci.image.config.v1+json", bytes: Buffer.from("{}") },
    layers: [layer],
  });
}

/** As cosign 3 does: a bundle that refers to the manifest, found by the tag that registries without referrers have. */
export async function signArtifactWithBundle(
  target: ArtifactTarget,
  digest: string,
  key: SigningKey,
): Promise<void> {
  const payloadType = "application/vnd.in-toto+json";
  const payload = Buffer.from(
    JSON.stringify({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ digest: { sha256: digest.slice("sha256:".length) } }],
      predicateType: "https://sigstore.dev/cosign/sign/v1",
      predicate: {},
    }),
  );
  const encoded = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
  const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";
  const bundle = {
    mediaType: bundleType,
    dsseEnvelope: {
      payload: payload.toString("base64"),
      payloadType,
      signatures: [{ sig: signatureOf(encoded, key) }],
    },
  };
  const tag = digest.replace(":", "-");
  const signature = await pushManifest(target, `${tag}.bundle`, {
    config: { mediaType: "application/vnd.oci.empty.v1+json", bytes: Buffer.from("{}") },
    layers: [{ mediaType: bundleType, bytes: Buffer.from(JSON.stringify(bundle)) }],
  });
  await putManifest(target, tag, indexType, {
    schemaVersion: 2,
    mediaType: indexType,
    manifests: [{ ...signature, artifactType: bundleType }],
  });
}

function signatureOf(bytes: Uint8Array, { privatePem }: SigningKey): string {
  return sign("sha256", bytes, createPrivateKey(privatePem)).toString("base64");
}

async function pushManifest(
  target: ArtifactTarget,
  tag: string,
  { config, layers }: { readonly config: Layer; readonly layers: readonly Layer[] },
): Promise<Descriptor> {
  return await putManifest(target, tag, manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: await pushBlob(target, config),
    layers: await Promise.all(layers.map((layer) => pushBlob(target, layer))),
  });
}

async function putManifest(
  target: ArtifactTarget,
  tag: string,
  mediaType: string,
  manifest: object,
): Promise<Descriptor> {
  const body = JSON.stringify(manifest);
  await send(target, "PUT", `manifests/${tag}`, { body, headers: { "content-type": mediaType } });
  const bytes = Buffer.from(body);
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

async function pushBlob(target: ArtifactTarget, { mediaType, bytes, annotations }: Layer) {
  const digest = digestOf(bytes);
  const begun = await send(target, "POST", "blobs/uploads/");
  const upload = new URL(begun.headers.get("location") ?? "", target.registry);
  upload.searchParams.set("digest", digest);
  await send(target, "PUT", upload, { body: Buffer.from(bytes) });
  return { mediaType, digest, size: bytes.length, ...(annotations && { annotations }) };
}

async function send(
  { registry, repository, login }: ArtifactTarget,
  method: string,
  path: string | URL,
  {
    body,
    headers,
  }: {
    readonly body?: string | Buffer<ArrayBuffer>;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const url = new URL(path, `${registry}/v2/${repository}/`);
  const basic = login && Buffer.from(`${login.username}:${login.password}`).toString("base64");
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body }),
    headers: { ...headers, ...(basic !== undefined && { authorization: `Basic ${basic}` }) },
  });
  if (!response.ok)
    assert.fail(`${method} ${url.pathname}: ${response.status} ${await response.text()}`);
  return response;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
