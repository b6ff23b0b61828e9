/** A registry with TLS and a login, charts that Helm pushes to it, and their signatures as cosign stores them. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { type Registry, runHelm } from "@flotilla/local/registries";
import { startTestRegistry, type TestScope, testDir } from "@flotilla/local/testing";
import type { ChartArchive } from "../harness/chart-archive.ts";

export interface FormRegistry {
  readonly registry: Registry;
  /** The content of a Secret of type kubernetes.io/dockerconfigjson. */
  readonly dockerConfig: string;
  /** The public key of the signatures. */
  readonly publicKeyPem: string;
  /** `sha256:…` of the manifest of a chart, `charts/NAME:VERSION`. */
  digestOf(reference: string): Promise<string>;
}

const user = { username: "captain", password: "of-the-registry" };
const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** Every chart is pushed to `charts/`, and signed. */
export async function startFormRegistry(
  scope: TestScope,
  helm: string,
  archives: readonly ChartArchive[],
): Promise<FormRegistry> {
  const registry = await startTestRegistry(scope, { tls: true, users: [user] });
  const home = await testDir(scope);
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authorization = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;

  /** Resolves to the value of a header of the answer. */
  function send(
    method: "HEAD" | "POST" | "PUT",
    path: string,
    body = "",
    type = "application/octet-stream",
  ): Promise<(name: string) => string> {
    const headers = { authorization, accept: manifestType, "content-type": type };
    const options = { method, headers, ca: registry.ca?.pem };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, registry.url), options, (answer) => {
        answer.resume();
        const { statusCode = 0 } = answer;
        if (statusCode < 300) resolve((name) => String(answer.headers[name] ?? ""));
        else reject(new Error(`${method} ${path}: ${statusCode}`));
      });
      sent.on("error", reject).end(body);
    });
  }

  async function digestOf(reference: string): Promise<string> {
    const [repository, tag] = reference.split(":");
    const header = await send("HEAD", `/v2/${repository}/manifests/${tag}`);
    return header("docker-content-digest");
  }

  async function pushBlob(repository: string, content: string): Promise<string> {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    const header = await send("POST", `/v2/${repository}/blobs/uploads/`);
    const upload = new URL(header("location"), registry.url);
    upload.searchParams.set("digest", digest);
    await send("PUT", upload.href, content);
    return digest;
  }

  async function pushSignature(repository: string, tag: string): Promise<void> {
    const digest = await digestOf(`${repository}:${tag}`);
    const payload = JSON.stringify({
      critical: {
        identity: { "docker-reference": `${registry.host}/${repository}` },
        image: { "docker-manifest-digest": digest },
        type: "cosign container image signature",
      },
      optional: null,
    });
    const signature = sign("sha256", Buffer.from(payload), privateKey).toString("base64");
    const manifest = {
      schemaVersion: 2,
      mediaType: manifestType,
      config: {
        mediaType: "application/vnd.oci.image.config.v1+json",
        digest: await pushBlob(repository, "{}"),
        size: 2,
      },
      layers: [
        {
          mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
          digest: await pushBlob(repository, payload),
          size: payload.length,
          annotations: { "dev.cosignproject.cosign/signature": signature },
        },
      ],
    };
    await send(
      "PUT",
      `/v2/${repository}/manifests/${digest.replace(":", "-")}.sig`,
      JSON.stringify(manifest),
      manifestType,
    );
  }

  for (const { name, version, bytes } of archives) {
    const file = join(home, `${name}-${version}.tgz`);
    await writeFile(file, bytes);
    await runHelm(["push", file, `${registry.oci}/charts`, "--ca-file", registry.ca?.file ?? ""], {
      helm,
      home,
      credentials: { host: registry.host, ...user },
    });
    await pushSignature(`charts/${name}`, version);
  }
  return {
    registry,
    dockerConfig: JSON.stringify({ auths: { [registry.host]: user } }),
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    digestOf,
  };
}
