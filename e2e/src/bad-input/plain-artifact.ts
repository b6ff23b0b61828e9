/** Pushes an OCI artifact that is not a chart to a registry. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";

/** `registry`: `http://host:port`. */
export async function pushPlainArtifact(
  registry: string,
  repository: string,
  tag: string,
): Promise<void> {
  const blob = Buffer.from("{}");
  const digest = `sha256:${createHash("sha256").update(blob).digest("hex")}`;
  const begun = await fetch(`${registry}/v2/${repository}/blobs/uploads/`, { method: "POST" });
  const upload = new URL(begun.headers.get("location") ?? "", registry);
  upload.searchParams.set("digest", digest);
  const uploaded = await fetch(upload, { method: "PUT", body: blob });
  assert.equal(uploaded.status, 201);

  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const layer = { mediaType: "text/plain", digest, size: blob.length };
  const config = { ...layer, mediaType: "application/vnd.oci.empty.v1+json" };
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [layer] });
  const tagged = await fetch(`${registry}/v2/${repository}/manifests/${tag}`, {
    method: "PUT",
    headers: { "content-type": mediaType },
    body: manifest,
  });
  assert.equal(tagged.status, 201);
}
