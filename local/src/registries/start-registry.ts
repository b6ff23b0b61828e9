/** Starts a real OCI registry (distribution) that stores its content in a folder. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import bcrypt from "bcryptjs";
import { Agent, request } from "undici";
import { stringify } from "yaml";
import { ensureServerCertificate } from "../control-plane/index.ts";
import { type RunningProcess, startServer, type Watchers, watchersOf } from "../process/index.ts";

// The minimum of bcrypt: these passwords protect samples, and every request is verified.
const bcryptRounds = 4;

export interface RegistryUser {
  readonly username: string;
  readonly password: string;
}

export interface RegistrySpec extends Watchers {
  readonly name?: string;
  /** Folder of this registry only: content, configuration, port. */
  readonly dir: string;
  /** Path of the registry program. */
  readonly binary: string;
  /** With users every request needs a password. */
  readonly users?: readonly RegistryUser[];
  /** Serve HTTPS with a certificate of its own authority. */
  readonly tls?: boolean;
  /** Endpoint for notifications of pushes and pulls. */
  readonly notify?: { readonly url: string; readonly authorization: string };
  readonly logDir?: string;
}

export interface Registry {
  /** `127.0.0.1:PORT`, the same after a restart. */
  readonly host: string;
  /** `http://…` or `https://…`. */
  readonly url: string;
  /** Prefix for `repo` of a HelmOp: `oci://127.0.0.1:PORT`. */
  readonly oci: string;
  /** With TLS: the certificate of the authority as PEM, and its file. */
  readonly ca?: { readonly pem: string; readonly file: string };
  readonly users: readonly RegistryUser[];
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

/** Resolves once the registry is ready. Throws PROCESS_FAILED. */
export async function startRegistry(spec: RegistrySpec): Promise<Registry> {
  const name = spec.name ?? "registry";
  const tls =
    spec.tls === true ? await ensureServerCertificate(join(spec.dir, "pki"), name) : undefined;
  const scheme = tls === undefined ? "http" : "https";
  const client = new Agent({ connect: tls === undefined ? {} : { ca: tls.ca } });
  try {
    const { port, process } = await startServer({
      name,
      dir: spec.dir,
      logFile: join(spec.logDir ?? join(spec.dir, "logs"), `${name}.log`),
      ...watchersOf(spec),
      command: async (port) => ({
        command: spec.binary,
        args: ["serve", await writeConfiguration(spec, port, tls)],
        // Otherwise the registry tries to export traces to a local collector.
        env: {
          OTEL_TRACES_EXPORTER: "none",
          OTEL_METRICS_EXPORTER: "none",
          OTEL_LOGS_EXPORTER: "none",
        },
      }),
      async ready(port) {
        const answer = await request(`${scheme}://127.0.0.1:${port}/v2/`, { dispatcher: client });
        await answer.body.dump();
        return answer.statusCode === 200 || answer.statusCode === 401;
      },
    });
    const host = `127.0.0.1:${port}`;
    return {
      host,
      url: `${scheme}://${host}`,
      oci: `oci://${host}`,
      ...(tls === undefined ? {} : { ca: { pem: tls.ca, file: tls.caFile } }),
      users: spec.users ?? [],
      process,
      stop: () => process.stop(),
    };
  } finally {
    await client.close();
  }
}

async function writeConfiguration(
  spec: RegistrySpec,
  port: number,
  tls: { readonly certFile: string; readonly keyFile: string } | undefined,
): Promise<string> {
  await mkdir(spec.dir, { recursive: true, mode: 0o700 });
  const htpasswd = join(spec.dir, "htpasswd");
  const users = spec.users ?? [];
  const lines = await Promise.all(
    users.map(
      async (user) => `${user.username}:${await bcrypt.hash(user.password, bcryptRounds)}\n`,
    ),
  );
  await writeFile(htpasswd, lines.join(""), { mode: 0o600 });
  const file = join(spec.dir, "config.yaml");
  const configuration = {
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(spec.dir, "content") },
      delete: { enabled: true },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: {
      addr: `127.0.0.1:${port}`,
      ...(tls === undefined ? {} : { tls: { certificate: tls.certFile, key: tls.keyFile } }),
    },
    ...(spec.notify === undefined ? {} : { notifications: notificationsTo(spec.notify) }),
    ...(users.length === 0 ? {} : { auth: { htpasswd: { realm: "flotilla", path: htpasswd } } }),
  };
  await writeFile(file, stringify(configuration), { mode: 0o600 });
  return file;
}

function notificationsTo({ url, authorization }: NonNullable<RegistrySpec["notify"]>) {
  return {
    endpoints: [
      {
        name: "listener",
        url,
        headers: { Authorization: [authorization] },
        timeout: "500ms",
        threshold: 3,
        backoff: "1s",
      },
    ],
  };
}
