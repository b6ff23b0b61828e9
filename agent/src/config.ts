/** The agent's flags, parsed and checked. The only file that reads the environment. */
import { createHash } from "node:crypto";
import { availableParallelism, hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { agentNamespace } from "@flotilla/shared/api/names";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors";
import { type LogLevel, logLevels } from "@flotilla/shared/log";
import { type ListenAddress, parseListenAddress } from "@flotilla/shared/program";
import { type ProxySettings, proxySettings } from "@flotilla/shared/source/transport";

export interface AgentConfig {
  /** Absent: in-cluster. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Impersonation is required, with service accounts of these namespaces. */
  readonly impersonationNamespaces?: readonly string[];
  /** For charts, Helm's caches and the records of its processes. Not shared with another agent. */
  readonly dataDir: string;
  /** The limit of the charts on disk that are not in use. */
  readonly chartCacheBytes: number;
  /** The limit of one checkout of a Git repository: of its files, and of what its servers send. */
  readonly gitBytes: number;
  /** The limit of one chart. */
  readonly maxChartBytes: number;
  /** Tells this agent from the others of its cluster; the same after a restart. */
  readonly replica: string;
  /** The Helm program. */
  readonly helm: string;
  /** The kustomize program. */
  readonly kustomize: string;
  /** The launcher of the sandbox that kustomize runs in. */
  readonly confine: string;
  /** Helm processes at a time. */
  readonly concurrency: number;
  /** Health and metrics. */
  readonly internalListen: ListenAddress;
  readonly logLevel: LogLevel;
  /** For chart repositories; absent: none. */
  readonly proxy?: ProxySettings;
  /** The file with further certificate authorities, which Node reads when it starts; absent: none. */
  readonly extraAuthorities?: string;
  /** The part of the agent's environment that Helm gets: search paths, proxies, certificates. */
  readonly helmEnvironment: Readonly<Record<string, string>>;
}

export const agentUsage = `Usage: flotilla-agent [flags]

  --kubeconfig FILE            of the agent's cluster; default: $KUBECONFIG, else the pod's service account
  --context NAME               of the kubeconfig; default: its current one
  --impersonation-namespaces A,B
                               act only as service accounts of these namespaces, and read and watch as them, too
  --data-dir DIR               for charts and Helm's caches; default: flotilla-agent in the temporary folder
  --chart-cache-size SIZE      of the charts that are kept on disk, as in 500Mi; default: 1Gi
  --git-size-limit SIZE        of the files of one Git repository, and of what its server sends; default: 512Mi
  --chart-size-limit SIZE      of one chart, as it is downloaded or built; default: 256Mi
  --replica NAME               of this agent among its cluster's, of which one is active. Under the same name it
                               goes on at once after a restart; default: by the host and the data directory
  --helm FILE                  the Helm program; default: helm
  --kustomize FILE             the kustomize program, for post-renderers and common metadata; default: kustomize
  --confine FILE               the launcher of the sandbox in which kustomize runs; default: confine
  --concurrency N              Helm processes at a time; default: two for each processor
  --internal-listen HOST:PORT  /healthz, /readyz and /metrics; default :8081
  --log-level LEVEL            ${logLevels.join(", ")}; default info
  --probe=URL                  only ask this URL, such as http://127.0.0.1:8081/readyz; fails unless the answer is a success

HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply to chart repositories. The file in NODE_EXTRA_CA_CERTS is read again when it changes.
`;

/** Variables that are passed on to Helm. */
const helmVariables = [
  "PATH",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "TZ",
  // The address of the API server in a pod.
  "KUBERNETES_SERVICE_HOST",
  "KUBERNETES_SERVICE_PORT",
];

/** Throws CONFIG_INVALID, whose message names the flag. */
export function parseAgentConfig(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): AgentConfig {
  const flags = readFlags(args);
  const kubeconfig = flags.kubeconfig ?? environment["KUBECONFIG"];
  const concurrency =
    flags.concurrency === undefined ? 2 * availableParallelism() : Number(flags.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw invalid(`--concurrency is "${flags.concurrency}", expected a positive integer`);
  const logLevel = logLevels.find((level) => level === flags["log-level"]);
  if (logLevel === undefined)
    throw invalid(
      `--log-level is "${flags["log-level"]}", expected one of ${logLevels.join(", ")}`,
    );
  const impersonationNamespaces = namespacesOf(flags["impersonation-namespaces"]);
  const proxy = proxySettings(environment);
  const extraAuthorities = environment["NODE_EXTRA_CA_CERTS"];
  return {
    ...(kubeconfig !== undefined && kubeconfig !== "" && { kubeconfig }),
    ...(flags.context !== undefined && { context: flags.context }),
    ...(impersonationNamespaces !== undefined && { impersonationNamespaces }),
    dataDir: flags["data-dir"],
    chartCacheBytes: sizeOf(flags["chart-cache-size"], "--chart-cache-size"),
    gitBytes: sizeOf(flags["git-size-limit"], "--git-size-limit"),
    maxChartBytes: sizeOf(flags["chart-size-limit"], "--chart-size-limit"),
    replica: flags.replica ?? defaultReplica(flags["data-dir"]),
    helm: flags.helm,
    kustomize: flags.kustomize,
    confine: flags.confine,
    concurrency,
    internalListen: parseListenAddress(flags["internal-listen"], "--internal-listen"),
    logLevel,
    ...(proxy !== undefined && { proxy }),
    ...(extraAuthorities && { extraAuthorities }),
    helmEnvironment: Object.fromEntries(
      helmVariables.flatMap((name) => {
        const value = environment[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
  };
}

/** An agent that starts on the same data directory ends the Helm processes that the one before has left. */
function defaultReplica(dataDir: string): string {
  const digest = createHash("sha256").update(resolve(dataDir)).digest("hex");
  return `${hostname()}_${digest.slice(0, 12)}`;
}

/** Accounts of these have rights of the cluster itself, or of the agent. */
const deniedNamespaces = ["kube-system", "kube-public", "kube-node-lease", agentNamespace];

function namespacesOf(flag: string | undefined): readonly string[] | undefined {
  if (flag === undefined) return undefined;
  const namespaces = flag.split(",");
  for (const namespace of namespaces) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
      throw invalid(`--impersonation-namespaces has "${namespace}", expected names of namespaces`);
    if (deniedNamespaces.includes(namespace))
      throw invalid(
        `--impersonation-namespaces has ${namespace}, whose service accounts may not be impersonated`,
      );
  }
  return namespaces;
}

const units = new Map([
  ["", 1],
  ["Ki", 1024],
  ["Mi", 1024 ** 2],
  ["Gi", 1024 ** 3],
]);

/** Bytes, of a number with one of the units of Kubernetes. */
function sizeOf(text: string, flag: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,12})(\D*)$/.exec(text) ?? [];
  const factor = units.get(unit);
  if (digits === "" || factor === undefined)
    throw invalid(`${flag} is "${text}", expected a whole number with Ki, Mi or Gi, as in 500Mi`);
  return Number(digits) * factor;
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        kubeconfig: { type: "string" },
        context: { type: "string" },
        "impersonation-namespaces": { type: "string" },
        "chart-cache-size": { type: "string", default: "1Gi" },
        "git-size-limit": { type: "string", default: "512Mi" },
        "chart-size-limit": { type: "string", default: "256Mi" },
        "data-dir": { type: "string", default: join(tmpdir(), "flotilla-agent") },
        replica: { type: "string" },
        helm: { type: "string", default: "helm" },
        kustomize: { type: "string", default: "kustomize" },
        confine: { type: "string", default: "confine" },
        concurrency: { type: "string" },
        "internal-listen": { type: "string", default: ":8081" },
        "log-level": { type: "string", default: "info" },
      },
    }).values;
  } catch (thrown) {
    throw invalid(messageOf(thrown));
  }
}

function invalid(message: string): AppError {
  return new AppError(commonErrors.CONFIG_INVALID, message);
}
