/** The environment variables of the command line. Only this file of the package reads `process.env`. */
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";

export interface CliConfig {
  /** Folder of the local fleet without `--dir`: `FLOTILLA_DIR`, else `.flotilla` in the working directory. */
  readonly dir: string;
  /** Whether `FLOTILLA_DIR` names it. */
  readonly isDirNamed: boolean;
  /** The environment variables of the user that the hub and the agents inherit. */
  readonly environment: Readonly<Record<string, string>>;
  /** The whole environment, for programs that run on behalf of the user, such as kubectl. */
  readonly userEnvironment: NodeJS.ProcessEnv;
  /** The kubeconfig of kubectl: the files of `KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig: { readonly paths: readonly string[]; readonly isNamed: boolean };
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
  const named = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return {
    dir: resolve(env["FLOTILLA_DIR"] || ".flotilla"),
    isDirNamed: Boolean(env["FLOTILLA_DIR"]),
    environment: Object.fromEntries(
      passedEnvironment.flatMap((name) => {
        const value = env[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    userEnvironment: env,
    kubeconfig: {
      paths: named.length > 0 ? named : [join(env["HOME"] || homedir(), ".kube", "config")],
      isNamed: named.length > 0,
    },
  };
}
