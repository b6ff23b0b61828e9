/** Clusters in containers, created by the `kind` program; needs a running Docker engine. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { formatKubeconfig, parseKubeconfig, writeKubeconfig } from "../control-plane/index.ts";
import { localErrors } from "../errors.ts";
import type { Availability, ClusterProvider, ClusterSpec } from "./cluster-provider.ts";

const run = promisify(execFile);
const checkTimeoutMs = 10_000;
const createTimeoutMs = 600_000;

export interface KindOptions {
  /** Environment variables of `kind` and `docker`. */
  readonly environment: Readonly<Record<string, string>>;
}

export function kindProvider(options: KindOptions): ClusterProvider {
  const env = { ...options.environment };
  const kind = (args: readonly string[], signal?: AbortSignal): Promise<string> =>
    runKind(args, env, signal);
  return {
    name: "kind",
    available: () => availability(env),
    async start(spec) {
      const available = await availability(env);
      if (!available.ok)
        throw new AppError(
          localErrors.PROVIDER_UNAVAILABLE,
          `start ${spec.name} with kind: ${available.reason}`,
        );
      const name = containerName(spec);
      await mkdir(spec.dir, { recursive: true, mode: 0o700 });
      const kubeconfig = join(spec.dir, "kubeconfig");
      const existing = (await kind(["get", "clusters"], spec.signal)).split("\n");
      if (!existing.includes(name)) {
        // By default kind changes the kubeconfig of the user.
        const file = join(spec.dir, "kind.kubeconfig");
        await kind(
          ["create", "cluster", "--name", name, "--kubeconfig", file, "--wait", "180s"],
          spec.signal,
        );
      }
      const entry = {
        ...parseKubeconfig(await kind(["get", "kubeconfig", "--name", name], spec.signal)),
        name: spec.name,
      };
      await writeKubeconfig(kubeconfig, formatKubeconfig([entry]));
      return { name: spec.name, server: entry.server, kubeconfig, entry, processes: [] };
    },
    async stop(cluster) {
      await kind([
        "delete",
        "cluster",
        "--name",
        containerName(cluster),
        "--kubeconfig",
        join(cluster.dir, "kind.kubeconfig"),
      ]);
    },
  };
}

/** Has a digest of the folder, so that two fleets on one machine do not share clusters. */
function containerName(cluster: Pick<ClusterSpec, "name" | "dir">): string {
  return `flotilla-${createHash("sha256").update(cluster.dir).digest("hex").slice(0, 8)}-${cluster.name}`;
}

async function availability(env: Readonly<Record<string, string>>): Promise<Availability> {
  try {
    await run("docker", ["info", "--format", "{{.ServerVersion}}"], {
      env,
      timeout: checkTimeoutMs,
    });
  } catch (thrown) {
    return { ok: false, reason: `no running Docker engine (${firstLine(thrown)})` };
  }
  try {
    await run("kind", ["version"], { env, timeout: checkTimeoutMs });
    return { ok: true };
  } catch (thrown) {
    return { ok: false, reason: `cannot run the program kind (${firstLine(thrown)})` };
  }
}

async function runKind(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<string> {
  try {
    const { stdout } = await run("kind", args, {
      env,
      timeout: createTimeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    return stdout;
  } catch (thrown) {
    throw new AppError(
      localErrors.CLUSTER_START_FAILED,
      `kind ${args.join(" ")}: ${stderrOf(thrown)}`,
      { cause: thrown },
    );
  }
}

function stderrOf(thrown: unknown): string {
  const stderr = thrown instanceof Error && "stderr" in thrown ? String(thrown.stderr).trim() : "";
  return stderr === "" ? messageOf(thrown) : stderr;
}

function firstLine(thrown: unknown): string {
  return stderrOf(thrown).split("\n")[0] ?? "";
}
