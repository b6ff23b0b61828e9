/** Loads the address of an API server from a kubeconfig file, as kubectl does, or from the service account of a pod. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, messageOf } from "../../runtime/errors/index.ts";
import { kubeErrors } from "./errors.ts";
import type { Environment, KubeConfig } from "./kubeconfig.ts";
import { readKubeconfig } from "./kubeconfig-file.ts";

export interface LoadKubeconfigOptions {
  /** A kubeconfig file, or several as `KUBECONFIG` has them; without it the service account of the pod is used. */
  readonly path?: string | readonly string[];
  /** Instead of the file's `current-context`. */
  readonly context?: string;
  /** The environment of the process: for credential plugins, and for the address of the API server in a pod. */
  readonly env?: Environment;
  /** Where the token of the service account is mounted. */
  readonly serviceAccountDir?: string;
}

const defaultServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

export function loadKubeconfig(options: LoadKubeconfigOptions = {}): Promise<KubeConfig> {
  const { path, context, env = {} } = options;
  return path === undefined
    ? inCluster(options.serviceAccountDir ?? defaultServiceAccountDir, env)
    : readKubeconfig({ path, env, ...(context === undefined ? {} : { context }) });
}

async function inCluster(directory: string, env: Environment): Promise<KubeConfig> {
  const tokenPath = join(directory, "token");
  const caPath = join(directory, "ca.crt");
  let caData: string;
  try {
    // The token is read for each request; here it only has to exist.
    await readFile(tokenPath);
    caData = await readFile(caPath, "utf8");
  } catch (error) {
    throw new AppError(
      kubeErrors.KUBECONFIG_INVALID,
      `load kubeconfig: no file is given, and no service account is mounted in ${dirname(tokenPath)}: ${messageOf(error)}`,
      { cause: error },
    );
  }
  const namespace = await readFile(join(directory, "namespace"), "utf8").catch(() => "");
  return {
    server: inClusterServer(env),
    caData,
    credentials: { kind: "token-file", path: tokenPath },
    ...(namespace.trim() === "" ? {} : { namespace: namespace.trim() }),
  };
}

function inClusterServer(env: Environment): string {
  const host = env["KUBERNETES_SERVICE_HOST"];
  if (host === undefined || host === "") return "https://kubernetes.default.svc";
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
