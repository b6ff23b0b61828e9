/** The controller of OCIRepositories with the real client, and a registry over HTTP. */
import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { type OCIRepositorySpec, ociRepositories } from "@flotilla/shared/flux";
import { createTestClient, digestOf, send, startTestServer } from "@flotilla/shared/source/testing";
import type { TestContext } from "vitest";
import { namespace, startTestSources } from "../../fluxsource/testing/index.ts";
import { pinOfArtifact } from "../../helmchart/artifact.ts";
import { createOciRepositoryController } from "../controller.ts";

export const helmLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/** What a registry has: manifests by tag, and blobs. */
interface Registry {
  readonly tags: Map<string, string>;
  readonly blobs: string[];
  /** The only accepted Authorization header, when it is set. */
  authorization?: string;
}

/** The manifest of a chart of this version, whose first layer is its provenance. */
function chartManifest({ blobs }: Registry, version: string): string {
  const config = JSON.stringify({ name: "web", version });
  blobs.push(config);
  return JSON.stringify({
    schemaVersion: 2,
    config: {
      mediaType: "application/vnd.cncf.helm.config.v1+json",
      digest: digestOf(config),
      size: config.length,
    },
    layers: [
      { mediaType: "application/vnd.prov", digest: digestOf("prov"), size: 4 },
      { mediaType: helmLayer, digest: digestOf(`chart ${version}`), size: 5 },
    ],
    annotations: { "org.opencontainers.image.version": version, "flotilla.dev/pin": "forged" },
  });
}

/** Adds the cosign signature of a manifest, and returns the public key. */
export function signManifest({ tags, blobs }: Registry, manifest: string): string {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const digest = digestOf(manifest);
  const payload = JSON.stringify({
    critical: {
      identity: { "docker-reference": "" },
      image: { "docker-manifest-digest": digest },
      type: "cosign container image signature",
    },
  });
  const signature = signBytes("sha256", Buffer.from(payload), privateKey).toString("base64");
  blobs.push(payload);
  tags.set(
    `${digest.replace(":", "-")}.sig`,
    JSON.stringify({
      schemaVersion: 2,
      layers: [
        {
          mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
          digest: digestOf(payload),
          size: payload.length,
          annotations: { "dev.cosignproject.cosign/signature": signature },
        },
      ],
    }),
  );
  return publicKey.export({ type: "spki", format: "pem" }).toString();
}

/** A public key that has signed nothing. */
export function generatedKey(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return publicKey.export({ type: "spki", format: "pem" }).toString();
}

/** The controller with the real client, and a registry over HTTP. */
export async function startTestRegistry(t: TestContext) {
  const registry: Registry = { tags: new Map(), blobs: [] };
  const manifests = new Map<string, string>();
  const server = await startTestServer((request, response) => {
    const { authorization } = registry;
    if (authorization !== undefined && request.headers.authorization !== authorization)
      return send(response, 401, "", { "www-authenticate": 'Basic realm="registry"' });
    for (const text of registry.tags.values()) manifests.set(digestOf(text), text);
    const [, kind, name = ""] = /\/(tags|manifests|blobs)\/(.+)$/.exec(request.path) ?? [];
    if (kind === "tags")
      return send(response, 200, JSON.stringify({ tags: [...registry.tags.keys()] }));
    const blob = registry.blobs.find((text) => digestOf(text) === name);
    if (kind === "blobs" && blob !== undefined) return send(response, 200, blob);
    const found = registry.tags.get(name) ?? manifests.get(name);
    if (kind !== "manifests" || found === undefined) return send(response, 404);
    const headers = { "docker-content-digest": digestOf(found) };
    send(response, 200, request.method === "HEAD" ? "" : found, headers);
  });
  const client = createTestClient();
  t.onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const sources = await startTestSources(t);
  const { artifacts } = client;
  sources.run(createOciRepositoryController({ ...sources.deps, artifacts }).controller);
  const statusOf = () => sources.get(ociRepositories, "web")?.status;
  return {
    ...{ ...sources, server, registry, statusOf },
    push(version: string, tag = version): string {
      const manifest = chartManifest(registry, version);
      registry.tags.set(tag, manifest);
      return manifest;
    },
    create: (spec: Partial<OCIRepositorySpec> = {}) =>
      sources.rest.put(ociRepositories, {
        metadata: { name: "web", namespace, uid: "u-1", generation: 1 },
        spec: {
          url: `oci://${server.host}/team/web`,
          ...{ interval: "1h", timeout: "20s", provider: "generic", insecure: true },
          ...spec,
        },
      }),
    condition: (type: string) => sources.condition(ociRepositories, "web", type),
    pinOf() {
      const found = sources.get(ociRepositories, "web");
      if (found === undefined) return undefined;
      const { artifact } = found.status ?? {};
      const pin = pinOfArtifact("OCIRepository", found.metadata, artifact, sources.signer);
      return pin?.kind === "oci" ? pin : undefined;
    },
    async reconcile(value: string) {
      sources.request(ociRepositories, "web", value);
      await sources.until(() => (statusOf()?.lastHandledReconcileAt === value ? true : undefined));
    },
  };
}
