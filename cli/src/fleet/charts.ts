/** Installs the charts of Flotilla with Helm, as a platform team does, with the values of a local fleet. */
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { loopbackClass, scheduling } from "@flotilla/local/pods";
import { agentNamespace, hubNamespace } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { helmStartEnvironment } from "@flotilla/shared/process";
import { cliErrors } from "../errors.ts";
import { createIfMissing } from "./registration.ts";

/** The charts in the order in which they are installed, each as a release of the same name. */
export const chartNames = [
  "flotilla-crds",
  "flotilla-flux-crds",
  "flotilla",
  "flotilla-agent",
] as const;
export type ChartName = (typeof chartNames)[number];

export type ChartValues = Readonly<Record<string, unknown>>;

const namespaceOf: Readonly<Record<ChartName, string>> = {
  "flotilla-crds": hubNamespace,
  "flotilla-flux-crds": hubNamespace,
  flotilla: hubNamespace,
  "flotilla-agent": agentNamespace,
};

/** Proxies may contain passwords, so they are not in the values. */
const proxySecret = "flotilla-proxy";
const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] as const;

/** The proxies of the user, by their variables; undefined without any. */
export function proxiesOf(
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const found = proxyVariables.flatMap((name) => {
    const value = environment[name] ?? environment[name.toLowerCase()];
    return value === undefined ? [] : [[name, value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Creates it in the namespace of the chart. */
export async function createProxySecret(
  rest: KubeRest,
  chart: ChartName,
  proxies: Readonly<Record<string, string>>,
): Promise<void> {
  const namespace = namespaceOf[chart];
  await createIfMissing(rest, namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  await createIfMissing(rest, secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: proxySecret },
    stringData: proxies,
  });
}

export interface LocalValues {
  /** On 127.0.0.1, where agents reach the hub. */
  readonly agentsPort: number;
  /** On 127.0.0.1, where browsers reach the dashboard. */
  readonly dashboardPort: number;
  /** Whether pods get their proxies from the Secret of `createProxySecret`. */
  readonly hasProxies?: boolean;
  /** Whether the hub's own cluster is a member. */
  readonly local?: boolean;
}

/** What a chart needs on one machine: pods run by the pod runner, on addresses of their own, charts from local repositories. */
export function valuesOf(
  chart: ChartName,
  { agentsPort, dashboardPort, hasProxies = false, local = false }: LocalValues,
): ChartValues {
  if (chart === "flotilla-crds" || chart === "flotilla-flux-crds") return {};
  const pods = {
    listenAddress: "$(POD_IP)",
    ...scheduling,
    ...(hasProxies && { proxy: { existingSecret: proxySecret } }),
  };
  if (chart === "flotilla-agent") return pods;
  return {
    ...pods,
    replicas: 1,
    egress: { loopback: "allow" },
    // Who has this fleet may do everything in it.
    requests: { proposals: true },
    flux: { requireLocalServiceAccount: false },
    ...(local && { local: { enabled: true } }),
    http: {
      service: { type: "LoadBalancer", port: dashboardPort, loadBalancerClass: loopbackClass },
    },
    agents: {
      address: `127.0.0.1:${agentsPort}`,
      service: { type: "LoadBalancer", port: agentsPort, loadBalancerClass: loopbackClass },
    },
  };
}

/** Writes the values of each chart to a file of its name; returns the folder. */
export async function writeValues(dir: string, values: LocalValues): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const chart of chartNames)
    await writeFile(join(dir, `${chart}.json`), JSON.stringify(valuesOf(chart, values), null, 2));
}

export interface ChartInstall {
  readonly chart: ChartName;
  readonly values: ChartValues;
  readonly kubeconfig: string;
  /** Path of the helm program. */
  readonly helm: string;
  /** For the caches of Helm. */
  readonly home: string;
  readonly signal: AbortSignal;
}

/** Installs or upgrades it; the pods may not be ready yet. Throws FLEET_NOT_READY with the error of Helm. */
export async function installChart(install: ChartInstall): Promise<void> {
  const { chart, values, kubeconfig, helm, home, signal } = install;
  await mkdir(home, { recursive: true });
  const args = [
    ...["upgrade", "--install", chart, chartDir(chart), "--values=-"],
    ...[`--namespace=${namespaceOf[chart]}`, "--create-namespace", `--kubeconfig=${kubeconfig}`],
  ];
  const child = spawn(helm, args, {
    env: { ...helmStartEnvironment, HOME: home, PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "pipe"],
    signal,
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("exit", resolve);
  });
  child.stdin.end(JSON.stringify(values));
  const [code, stderr] = await Promise.all([exited, text(child.stderr)]);
  if (code === 0) return;
  throw new AppError(
    cliErrors.FLEET_NOT_READY,
    `install chart ${chart}: helm ended with ${code}: ${stderr.trim()}`,
  );
}

/** The folder of a chart of this checkout. */
export function chartDir(chart: ChartName): string {
  return fileURLToPath(new URL(`../../../charts/${chart}`, import.meta.url));
}
