/** The environment as the command line reads it: the only place here that looks at `process.env`. */
import { resolve } from "node:path";

export interface CliConfig {
  /** The folder of the fleet unless `--dir` says another: `FLOTILLA_DIR`, else `.flotilla` where the command is run. */
  readonly dir: string;
  /** What the hub and the agents get of the user's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Everything, for programs that act in the user's name, such as kubectl. */
  readonly userEnvironment: NodeJS.ProcessEnv;
}

const passedOn = [
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
      passedOn.flatMap((name) => {
        const value = env[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    userEnvironment: env,
  };
}
