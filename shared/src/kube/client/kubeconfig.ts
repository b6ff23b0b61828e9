/**
 * How to reach an API server: from a kubeconfig file, as kubectl reads it, or from the service account of a pod.
 *
 * Our own reader: the usual client library costs 130 MB of memory for it.
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, messageOf } from "../../errors/app-error.ts";
import { kubeErrors } from "./errors.ts";
import { readKubeconfig } from "./kubeconfig-file.ts";

/** How to reach one API server and as whom. Secret: never logged. */
export interface KubeConfig {
  /** `https://host:port`, with a path where the API server is behind one. */
  readonly server: string;
  /** PEM; absent means the system's certificate authorities. */
  readonly caData?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name that the server's certificate must carry, when it is not the host of `server`. */
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly clientCertificate?: ClientCertificate;
  readonly credentials: KubeCredentials;
  readonly impersonate?: Impersonation;
  /** The namespace that the context names. */
  readonly namespace?: string;
  /** The name of the context that was taken; absent in a cluster. */
  readonly context?: string;
}

/** PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export type KubeCredentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "token-file"; readonly path: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly exec: ExecPlugin };

/** A program that prints an ExecCredential. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment that it runs in. */
  readonly env: Environment;
  /** What the kubeconfig's author says to do when the program is missing. */
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  /** What a relative command starts from. */
  readonly directory: string;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadKubeconfigOptions {
  /** A kubeconfig file; without it the service account of the pod is taken. */
  readonly path?: string;
  /** Instead of the file's `current-context`. */
  readonly context?: string;
  /** The environment of the process: for credential plugins, and for the address of the API server in a pod. */
  readonly env?: Environment;
  /** Where a pod finds its service account. */
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
    // The token is read for each use; here it only has to be there.
    await readFile(tokenPath);
    caData = await readFile(caPath, "utf8");
  } catch (error) {
    throw new AppError(
      kubeErrors.KUBECONFIG_INVALID,
      `find an API server: no kubeconfig was given, and there is no service account in ${dirname(tokenPath)}: ${messageOf(error)}`,
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
