/** Starts a real S3 server (versitygw) that stores its buckets in a folder. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import { encodeKey, signRequest } from "@flotilla/shared/source/bucket";
import { Agent, request } from "undici";
import { ensureServerCertificate } from "../control-plane/index.ts";
import { localErrors } from "../errors.ts";
import { type RunningProcess, startServer, type Watchers, watchersOf } from "../process/index.ts";

export interface BucketServerSpec extends Watchers {
  /** Folder of this server only: buckets, metadata, port. */
  readonly dir: string;
  /** Path of the versitygw program. */
  readonly binary: string;
  /** Serve HTTPS with a certificate of its own authority. */
  readonly tls?: boolean;
  readonly region?: string;
}

export interface BucketServer {
  /** `127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly keys: { readonly accessKey: string; readonly secretKey: string };
  /** With TLS: the certificate of the authority as PEM. */
  readonly caPem?: string;
  readonly process: RunningProcess;
  createBucket(name: string): Promise<void>;
  put(bucket: string, key: string, content: string | Uint8Array): Promise<void>;
  remove(bucket: string, key: string): Promise<void>;
  stop(): Promise<void>;
}

const keys = { accessKey: "flotilla", secretKey: "flotilla-of-tests" };

/** Resolves once the server is ready. Throws PROCESS_FAILED. */
export async function startBucketServer(spec: BucketServerSpec): Promise<BucketServer> {
  const name = "versitygw";
  const region = spec.region ?? "us-east-1";
  const tls =
    spec.tls === true ? await ensureServerCertificate(join(spec.dir, "pki"), name) : undefined;
  const scheme = tls === undefined ? "http" : "https";
  const client = new Agent({ connect: tls === undefined ? {} : { ca: tls.ca } });
  const [buckets, sidecar] = [join(spec.dir, "buckets"), join(spec.dir, "metadata")];
  await mkdir(buckets, { recursive: true });
  await mkdir(sidecar, { recursive: true });
  const { port, process } = await startServer({
    name,
    dir: spec.dir,
    logFile: join(spec.dir, "logs", `${name}.log`),
    ...watchersOf(spec),
    command: (port) =>
      Promise.resolve({
        command: spec.binary,
        args: [
          ...["--port", `127.0.0.1:${port}`, "--region", region, "--quiet", "--health", "/health"],
          ...(tls === undefined ? [] : ["--cert", tls.certFile, "--key", tls.keyFile]),
          ...["posix", "--sidecar", sidecar, buckets],
        ],
        env: { ROOT_ACCESS_KEY: keys.accessKey, ROOT_SECRET_KEY: keys.secretKey },
      }),
    async ready(port) {
      const answer = await request(`${scheme}://127.0.0.1:${port}/health`, { dispatcher: client });
      await answer.body.dump();
      return answer.statusCode === 200;
    },
  });
  const endpoint = `127.0.0.1:${port}`;

  async function send(method: "PUT" | "DELETE", path: string, body: Uint8Array): Promise<void> {
    const url = new URL(`${scheme}://${endpoint}/${path}`);
    const signed = signRequest({ url, region, nowMs: Date.now(), method, body }, keys);
    const answer = await request(url, {
      method,
      body,
      headers: { ...signed.headers, authorization: signed.authorization },
      dispatcher: client,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300)
      throw new AppError(
        localErrors.PROCESS_FAILED,
        `${method} ${path} on ${name}: ${answer.statusCode} ${text}`,
      );
  }

  return {
    endpoint,
    keys,
    ...(tls !== undefined && { caPem: tls.ca }),
    process,
    createBucket: (bucket) => send("PUT", bucket, new Uint8Array()),
    put: (bucket, key, content) => send("PUT", `${bucket}/${encodeKey(key)}`, Buffer.from(content)),
    remove: (bucket, key) => send("DELETE", `${bucket}/${encodeKey(key)}`, new Uint8Array()),
    async stop() {
      await client.close();
      await process.stop();
    },
  };
}
