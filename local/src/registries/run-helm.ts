/** Runs helm for publishing. Passwords are passed in a file, never in an argument. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "@flotilla/shared/errors";
import { helmStartEnvironment } from "@flotilla/shared/process";
import { localErrors } from "../errors.ts";

const run = promisify(execFile);
const timeoutMs = 120_000;

export interface HelmRun {
  /** Path of the helm program. */
  readonly helm: string;
  /** Replaces the home folder of the user for helm. */
  readonly home: string;
  readonly credentials?: {
    readonly host: string;
    readonly username: string;
    readonly password: string;
  };
  readonly signal?: AbortSignal;
}

/** Returns stdout and stderr of helm. Throws CHART_PUBLISH_FAILED with its stderr. */
export async function runHelm(args: readonly string[], options: HelmRun): Promise<string> {
  const registryConfig = join(options.home, "registry.json");
  await writeFile(registryConfig, dockerConfig(options.credentials), { mode: 0o600 });
  const env = {
    PATH: "/usr/bin:/bin",
    ...helmStartEnvironment,
    HOME: options.home,
    HELM_CACHE_HOME: join(options.home, "cache"),
    HELM_CONFIG_HOME: join(options.home, "config"),
    HELM_DATA_HOME: join(options.home, "data"),
    HELM_REGISTRY_CONFIG: registryConfig,
  };
  try {
    const { stdout, stderr } = await run(options.helm, args, {
      env,
      timeout: timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return stdout + stderr;
  } catch (thrown) {
    const reason =
      thrown instanceof Error && "stderr" in thrown ? String(thrown.stderr).trim() : String(thrown);
    throw new AppError(localErrors.CHART_PUBLISH_FAILED, `helm ${args.join(" ")}: ${reason}`, {
      cause: thrown,
    });
  }
}

function dockerConfig(credentials: HelmRun["credentials"]): string {
  if (credentials === undefined) return '{"auths":{}}';
  const auth = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
  return JSON.stringify({ auths: { [credentials.host]: { auth } } });
}
