/** `flotilla status`: addresses, clusters, HelmOps and Bundles of the local fleet. */
import {
  type Bundle,
  bundleDeployments,
  bundles,
  type Cluster,
  type ClusterAgent,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import {
  helmOpLabel,
  hubNamespace,
  hubReplicaLabel,
  hubVersionAnnotation,
} from "@flotilla/shared/api/names";
import { buildVersion, type Skew, versionSkew } from "@flotilla/shared/buildinfo";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { keyOf, type Lease, leases } from "@flotilla/shared/kube/objects";
import { runningFleet } from "../fleet/index.ts";

/** Prints the status. Without a running fleet it throws NO_FLEET or FLEET_BROKEN; as JSON it prints `{ error }` instead. */
export async function status(dir: string, output: "text" | "json"): Promise<void> {
  if (output === "json") return await printJson(dir);
  const state = await runningFleet(dir);
  const rest = connectKube(await loadKubeconfig({ path: state.kubeconfig, context: "hub" }));
  try {
    const [replicas, members, ops, all, deployments] = await Promise.all([
      rest.list(leases, { namespace: hubNamespace, labelSelector: `${hubReplicaLabel}=true` }),
      rest.list(clusters),
      rest.list(helmOps),
      rest.list(bundles),
      rest.list(bundleDeployments),
    ]);
    const text = [
      `kubeconfig        ${state.kubeconfig}`,
      ...Object.entries(state.addresses).map(([name, address]) => `${name.padEnd(17)} ${address}`),
      `processes         ${state.processes.length} running`,
      ...versionLines(hubVersionsOf(replicas.items), members.items),
      "",
      clusterTable(members.items),
      helmOpTable(ops.items),
      ...[bundleTable(standaloneBundles(all.items, ops.items))].filter((table) => table !== ""),
      `${deployments.items.length} BundleDeployments`,
      "",
    ];
    process.stdout.write(text.join("\n"));
  } finally {
    await rest.close();
  }
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

function helmOpTable(ops: readonly HelmOp[]): string {
  return formatTable(
    ["HELMOP", "VERSION", "READY", "MESSAGE"],
    ops.map(({ metadata, status: observed }) => [
      `${metadata.namespace}/${metadata.name}`,
      observed?.version ?? "",
      observed?.display?.readyBundleDeployments ?? "0/0",
      ["Accepted", "Polled", "Ready"]
        .map((type) => findCondition(observed?.conditions, type))
        .find((condition) => condition?.status === "False" || condition?.reason === "Offline")
        ?.message ?? "",
    ]),
  );
}

function bundleTable(all: readonly Bundle[]): string {
  return formatTable(
    ["BUNDLE", "VERSION", "READY", "MESSAGE"],
    all.map(({ metadata, status: observed }) => {
      const ready = findCondition(observed?.conditions, "Ready");
      return [
        `${metadata.namespace}/${metadata.name}`,
        observed?.version ?? "",
        observed?.display?.readyClusters ?? "0/0",
        ready?.status === "False" ? (ready.message ?? "") : "",
      ];
    }),
  );
}

function agentText(agent: ClusterAgent | undefined): string {
  if (agent?.connected === true) return "connected";
  return agent?.lastSeen ? `offline since ${agent.lastSeen}` : "offline";
}

/** Bundles that users created, without a HelmOp. */
function standaloneBundles(all: readonly Bundle[], ops: readonly HelmOp[]): readonly Bundle[] {
  const names = new Set(ops.map(({ metadata }) => keyOf(metadata)));
  return all.filter(
    ({ metadata }) =>
      metadata.labels?.[helmOpLabel] !== metadata.name || !names.has(keyOf(metadata)),
  );
}

/** A table as kubectl prints it, columns three spaces apart, with a line break at the end; "" without rows. Pure. */
export function formatTable(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return "";
  const all = [headers, ...rows];
  const widths = headers.map((_, column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}
