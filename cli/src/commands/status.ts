/** `flotilla status`: addresses, clusters and apps of the local fleet. */
import { bundleDeployments, type Cluster, type ClusterAgent, clusters } from "@flotilla/shared/api";
import { type AppKind, appDefinition, appKinds } from "@flotilla/shared/api/apps";
import { hubNamespace, hubReplicaLabel, hubVersionAnnotation } from "@flotilla/shared/api/names";
import { buildVersion, type Skew, versionSkew } from "@flotilla/shared/buildinfo";
import { AppError } from "@flotilla/shared/errors";
import {
  connectKube,
  isNotFound,
  type KubeRest,
  loadKubeconfig,
} from "@flotilla/shared/kube/client";
import { type KubeObject, keyOf, type Lease, leases } from "@flotilla/shared/kube/objects";
import { runningFleet } from "../fleet/index.ts";
import { type AppsByKind, appTables } from "./app-tables.ts";
import { formatTable } from "./format-table.ts";

/** Prints the status. Without a running fleet it throws NO_FLEET or FLEET_BROKEN; as JSON it prints `{ error }` instead. */
export async function status(dir: string, output: "text" | "json"): Promise<void> {
  if (output === "json") return await printJson(dir);
  const state = await runningFleet(dir);
  const rest = connectKube(await loadKubeconfig({ path: state.kubeconfig, context: "hub" }));
  try {
    const [replicas, members, apps, deployments] = await Promise.all([
      rest.list(leases, { namespace: hubNamespace, labelSelector: `${hubReplicaLabel}=true` }),
      rest.list(clusters),
      readApps(rest),
      rest.list(bundleDeployments),
    ]);
    const text = [
      `kubeconfig        ${state.kubeconfig}`,
      ...Object.entries(state.addresses).map(([name, address]) => `${name.padEnd(17)} ${address}`),
      `processes         ${state.processes.length} running`,
      ...versionLines(hubVersionsOf(replicas.items), members.items),
      "",
      clusterTable(members.items),
      ...appTables(apps),
      `${deployments.items.length} BundleDeployments`,
      "",
    ];
    process.stdout.write(text.join("\n"));
  } finally {
    await rest.close();
  }
}

async function readApps(rest: Pick<KubeRest, "list">): Promise<AppsByKind> {
  const found = await Promise.all(
    appKinds.map(async (kind): Promise<readonly [AppKind, readonly KubeObject[]]> => {
      try {
        return [kind, (await rest.list(appDefinition(kind).resource)).items];
      } catch (thrown) {
        // A fleet without Flux's definitions has none of its kinds.
        if (isNotFound(thrown)) return [kind, []];
        throw thrown;
      }
    }),
  );
  return new Map(found);
}

async function printJson(dir: string): Promise<void> {
  try {
    const { version: _, ...state } = await runningFleet(dir);
    process.stdout.write(`${JSON.stringify(state, undefined, 2)}\n`);
  } catch (thrown) {
    const { code, message } = AppError.from(thrown);
    process.stdout.write(`${JSON.stringify({ error: { code, message } }, undefined, 2)}\n`);
    process.exitCode = 1;
  }
}

/** The versions of the hub's running replicas; more than one during an upgrade. */
function hubVersionsOf(replicas: readonly Lease[]): readonly string[] {
  const running = replicas.filter(({ spec }) => Boolean(spec?.holderIdentity));
  const versions = running.map(({ metadata }) => metadata.annotations?.[hubVersionAnnotation]);
  return [...new Set(versions.filter((version) => version !== undefined))];
}

/** The versions of the hub and this command line, and each part whose version the hub does not support. Pure. */
export function versionLines(
  hubVersions: readonly string[],
  members: readonly Cluster[],
): readonly string[] {
  const agents = members.flatMap(({ metadata, status: observed }) =>
    observed?.agent?.connected === true && observed.agent.version
      ? [{ name: keyOf(metadata), version: observed.agent.version }]
      : [],
  );
  const skews = hubVersions.flatMap((hub) => [
    messageOf(versionSkew("command line", buildVersion, hub)),
    ...agents.map(({ name, version }) => messageOf(versionSkew("agent", version, hub), name)),
  ]);
  return [
    `versions          hub ${hubVersions.join(", ") || "not running"}, command line ${buildVersion}`,
    ...skews.filter((skew) => skew !== undefined),
  ];
}

function messageOf(skew: Skew, cluster?: string): string | undefined {
  if (skew.kind !== "warning" && skew.kind !== "unsupported") return undefined;
  return `${skew.kind.padEnd(17)} ${cluster === undefined ? "" : `Cluster ${cluster}: `}${skew.message}`;
}

function clusterTable(members: readonly Cluster[]): string {
  return formatTable(
    ["CLUSTER", "AGENT", "VERSION", "READY", "STATE"],
    members.map(({ metadata, status: observed }) => [
      `${metadata.namespace}/${metadata.name}`,
      agentText(observed?.agent),
      observed?.agent?.version ?? "",
      observed?.display?.readyBundles ?? "0/0",
      observed?.display?.state ?? "Ready",
    ]),
  );
}

function agentText(agent: ClusterAgent | undefined): string {
  if (agent?.connected === true) return "connected";
  return agent?.lastSeen ? `offline since ${agent.lastSeen}` : "offline";
}
