/** A minimal registry for tests of rare responses: tags in pages and one manifest for each tag. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type Respond, type SeenRequest, send } from "./test-server.ts";

export interface TestChart {
  readonly archive: Uint8Array;
  readonly layerDigest: string;
  readonly manifest: string;
  readonly manifestDigest: string;
}

/** A chart in a registry. The archive is compressed text: nothing parses it. */
export function testChart(
  content: string,
  layerType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
): TestChart {
  const archive = gzipSync(content);
  const layerDigest = digestOf(archive);
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {
      mediaType: "application/vnd.cncf.helm.config.v1+json",
      digest: digestOf("{}"),
      size: 2,
    },
    layers: [
      {
        mediaType: "application/vnd.cncf.helm.chart.provenance.v1.prov",
        digest: digestOf("p"),
        size: 1,
      },
      { mediaType: layerType, digest: layerDigest, size: archive.length },
    ],
  });
  return { archive, layerDigest, manifest, manifestDigest: digestOf(manifest) };
}

/** Responds as a registry with these charts of one repository, by tag. */
export function registryOf(charts: Readonly<Record<string, TestChart>>): Respond {
  return (request, response) => {
    const [, kind, name] =
      /^\/v2\/[a-z/]+\/(tags|manifests|blobs)\/([^?]+)/.exec(request.path) ?? [];
    if (kind === "tags") return send(response, 200, JSON.stringify({ tags: Object.keys(charts) }));
    const blob = Object.values(charts).find(({ layerDigest }) => layerDigest === name);
    if (kind === "blobs" && blob !== undefined) return send(response, 200, blob.archive);
    const chart = charts[name ?? ""];
    if (kind !== "manifests" || chart === undefined)
      return send(response, 404, '{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
    const headers = {
      "docker-content-digest": chart.manifestDigest,
      "content-type": "application/vnd.oci.image.manifest.v1+json",
    };
    send(response, 200, request.method === "HEAD" ? "" : chart.manifest, headers);
  };
}

/** Method and path without the name of the repository, for the requests that a test expects. */
export function describeRequest(request: SeenRequest): string {
  return `${request.method} ${request.path.replace(/^\/v2\/[a-z/]+?\/(?=tags|manifests|blobs)/, "")}`;
}

export function digestOf(bytes: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
