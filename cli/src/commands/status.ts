/** `flotilla status`: what runs, where, and how the fleet is. */
import { bundleDeployments, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/kubeconfig.ts";
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
    const [members, ops, deployments] = await Promise.all([
      rest.list(clusters),
      rest.list(helmOps),
      rest.list(bundleDeployments),
    ]);
    const text = [
      `kubeconfig        ${state.kubeconfig}`,
      ...Object.entries(state.addresses).map(([name, address]) => `${name.padEnd(17)} ${address}`),
      `processes         ${state.processes.length} running`,
      "",
      formatTable(
        ["CLUSTER", "AGENT", "READY", "STATE"],
        members.items.map(({ metadata, status: seen }) => [
          `${metadata.namespace}/${metadata.name}`,
          seen?.agent?.connected === true ? "connected" : "not connected",
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
            .find((condition) => condition?.status === "False")?.message ?? "",
        ]),
      ),
      `${deployments.items.length} BundleDeployments`,
      "",
    ];
    process.stdout.write(text.join("\n"));
  } finally {
    await rest.close();
  }
}
