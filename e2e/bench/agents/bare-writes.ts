/** What the writes of a change for all cost with no hub: three for each cluster. */
import { bundleDeployments, clusters } from "@flotilla/shared/api";
import { inParallel, timed } from "../measure/bench-fleet.ts";
import type { AgentsFleet } from "./agents-fleet.ts";

const atATime = 32;

/** A BundleDeployment's spec, its status and its Cluster's status, of each. The hub is stopped for that. */
export async function bareWrites(bench: AgentsFleet, agents: number): Promise<number> {
  const { fleet } = bench;
  await fleet.stopHub();
  const deployments = bench.deployments.store.list().slice(0, agents);
  const members = bench.clusters.store.list().slice(0, agents);
  const deploymentID = `sha256:${"0".repeat(64)}`;
  const at = new Date().toISOString();
  return await timed(async () => {
    await inParallel(agents, atATime, async (index) => {
      const deployment = deployments[index];
      if (deployment === undefined) throw new Error("there is a BundleDeployment for each agent");
      const written = await fleet.hub.replace(bundleDeployments, {
        ...deployment,
        spec: { ...deployment.spec, deploymentID, stagedDeploymentID: deploymentID },
      });
      const status = { ...deployment.status, appliedDeploymentID: deploymentID };
      await fleet.hub.replace(bundleDeployments, { ...written, status }, statusOnly);
    });
    await inParallel(agents, atATime, async (index) => {
      const cluster = members[index];
      if (cluster === undefined) throw new Error("there is a Cluster for each agent");
      const { agent } = cluster.status ?? {};
      const status = { ...cluster.status, agent: { ...agent, lastSeen: at } };
      await fleet.hub.replace(clusters, { ...cluster, status }, statusOnly);
    });
  });
}

const statusOnly = { subresource: "status" } as const;
