/** The environment variables of the command line. Only this file of the package reads `process.env`. */
import { resolve } from "node:path";

export interface CliConfig {
  /** Folder of the local fleet without `--dir`: `FLOTILLA_DIR`, else `.flotilla` in the working directory. */
  readonly dir: string;
  /** The environment variables of the user that the hub and the agents inherit. */
  readonly environment: Readonly<Record<string, string>>;
  /** The whole environment, for programs that run on behalf of the user, such as kubectl. */
  readonly userEnvironment: NodeJS.ProcessEnv;
}

const passedEnvironment = [
  "PATH",
  "HOME",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "TZ",
];

export function readCliConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  return {
    dir: resolve(env["FLOTILLA_DIR"] || ".flotilla"),
    environment: Object.fromEntries(
      passedEnvironment.flatMap((name) => {
        const value = env[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    userEnvironment: env,
  };
}
