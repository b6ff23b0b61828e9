/** Runs the Helm program for publishing. Passwords reach it by a file of its own, never by an argument. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";

const run = promisify(execFile);
const timeoutMs = 120_000;

export interface HelmRun {
  /** The path of the `helm` program. */
  readonly helm: string;
  /** A folder for what Helm would keep in the user's home. */
  readonly home: string;
  readonly credentials?: {
    readonly host: string;
    readonly username: string;
    readonly password: string;
  };
  readonly signal?: AbortSignal;
}

/** Runs Helm and gives what it said on both streams; its own words are the message of a failure. */
export async function runHelm(args: readonly string[], options: HelmRun): Promise<string> {
  const registryConfig = join(options.home, "registry.json");
  await writeFile(registryConfig, dockerConfig(options.credentials), { mode: 0o600 });
  const env = {
    PATH: "/usr/bin:/bin",
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
    const said =
      thrown instanceof Error && "stderr" in thrown ? String(thrown.stderr).trim() : String(thrown);
    throw new AppError(localErrors.CHART_PUBLISH_FAILED, `helm ${args.join(" ")}: ${said}`, {
      cause: thrown,
    });
  }
}

function dockerConfig(credentials: HelmRun["credentials"]): string {
  if (credentials === undefined) return '{"auths":{}}';
  const auth = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
  return JSON.stringify({ auths: { [credentials.host]: { auth } } });
}
