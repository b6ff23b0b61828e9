/** Pushes many tags to a registry without packing a chart for each: `helm pull` only checks the media types. */
import { createHash } from "node:crypto";

const configType = "application/vnd.cncf.helm.config.v1+json";
const layerType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** `registry`: `http://host:port`; `repository`: the path below it. */
export async function pushTags(
  registry: string,
  repository: string,
  tags: readonly string[],
): Promise<void> {
  const base = `${registry}/v2/${repository}`;
  const config = Buffer.from(`{"apiVersion":"v2","name":"${repository}","version":"0.0.0"}`);
  const layer = Buffer.from("the bytes of a chart");
  await pushBlob(base, config);
  await pushBlob(base, layer);
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: configType, digest: digestOf(config), size: config.length },
    layers: [{ mediaType: layerType, digest: digestOf(layer), size: layer.length }],
  });
  for (const tag of tags)
    await put(`${base}/manifests/${tag}`, { "content-type": manifestType }, manifest);
}

async function pushBlob(base: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
  const started = await fetch(`${base}/blobs/uploads/`, { method: "POST" });
  await started.body?.cancel();
  const url = new URL(started.headers.get("location") ?? "", base);
  url.searchParams.set("digest", digestOf(bytes));
  await put(url.href, { "content-type": "application/octet-stream" }, bytes);
}

async function put(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const answer = await fetch(url, { method: "PUT", headers, body });
  const said = await answer.text();
  if (answer.status !== 201) throw new Error(`PUT ${url}: ${answer.status} ${said}`);
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
