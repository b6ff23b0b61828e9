/** `flotilla status`: what runs, where, and how the fleet is. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { ClusterAgent } from "@flotilla/shared/api/cluster.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { helmOpLabel } from "@flotilla/shared/api/names.ts";
import { bundleDeployments, bundles, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/load-kubeconfig.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { runningFleet } from "../fleet/running-fleet.ts";
import { formatTable } from "../output/table.ts";

/** As text or as JSON. Without a running fleet it throws; as JSON that is an object with `error` and without `kubeconfig`. */
export async function status(dir: string, output: "text" | "json"): Promise<void> {
  if (output === "json") {
    try {
      const { version: _, ...state } = await runningFleet(dir);
      process.stdout.write(`${JSON.stringify(state, undefined, 2)}\n`);
    } catch (thrown) {
      const { code, message } = AppError.from(thrown);
      process.stdout.write(`${JSON.stringify({ error: { code, message } }, undefined, 2)}\n`);
      process.exitCode = 1;
    }
    return;
  }
  const state = await runningFleet(dir);
  const rest = connectKube(await loadKubeconfig({ path: state.kubeconfig, context: "hub" }));
  try {
    const [members, ops, made, deployments] = await Promise.all([
      rest.list(clusters),
      rest.list(helmOps),
      rest.list(bundles),
      rest.list(bundleDeployments),
    ]);
    const applied = bundlesWithoutHelmOp(made.items, ops.items);
    const text = [
      `kubeconfig        ${state.kubeconfig}`,
      ...Object.entries(state.addresses).map(([name, address]) => `${name.padEnd(17)} ${address}`),
      `processes         ${state.processes.length} running`,
      "",
      formatTable(
        ["CLUSTER", "AGENT", "READY", "STATE"],
        members.items.map(({ metadata, status: seen }) => [
          `${metadata.namespace}/${metadata.name}`,
          agentText(seen?.agent),
          seen?.display?.readyBundles ?? "0/0",
          seen?.display?.state ?? "Ready",
        ]),
      ),
      formatTable(
        ["HELMOP", "VERSION", "READY", "MESSAGE"],
        ops.items.map(({ metadata, status: seen }) => [
          `${metadata.namespace}/${metadata.name}`,
          seen?.version ?? "",
          seen?.display?.readyBundleDeployments ?? "0/0",
          ["Accepted", "Polled", "Ready"]
            .map((type) => findCondition(seen?.conditions, type))
            .find((condition) => condition?.status === "False" || condition?.reason === "Offline")
            ?.message ?? "",
        ]),
      ),
      ...(applied.length === 0
        ? []
        : [
            formatTable(
              ["BUNDLE", "VERSION", "READY", "MESSAGE"],
              applied.map(({ metadata, status: seen }) => {
                const ready = findCondition(seen?.conditions, "Ready");
                return [
                  `${metadata.namespace}/${metadata.name}`,
                  seen?.version ?? "",
                  seen?.display?.readyClusters ?? "0/0",
                  ready?.status === "False" ? (ready.message ?? "") : "",
                ];
              }),
            ),
          ]),
      `${deployments.items.length} BundleDeployments`,
      "",
    ];
    process.stdout.write(text.join("\n"));
  } finally {
    await rest.close();
  }
}

function agentText(agent: ClusterAgent | undefined): string {
  if (agent?.connected === true) return "connected";
  return agent?.lastSeen ? `not connected since ${agent.lastSeen}` : "not connected";
}

/** What somebody applied as a Bundle, which no HelmOp tells of. */
function bundlesWithoutHelmOp(all: readonly Bundle[], ops: readonly HelmOp[]): readonly Bundle[] {
  const names = new Set(ops.map(({ metadata }) => keyOf(metadata)));
  return all.filter(
    ({ metadata }) =>
      metadata.labels?.[helmOpLabel] !== metadata.name || !names.has(keyOf(metadata)),
  );
}
