/** A cluster, a chart repository and Helm, for an agent that runs in this process without a hub. */
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { agentNamespace } from "@flotilla/shared/api/names";
import { namespaces } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { type ChartServer, startChartServer } from "../harness/chart-server.ts";
import { type ClusterClient, connectCluster } from "../harness/cluster-client.ts";
import { leaseControlPlane, type PlaneAccess } from "../harness/control-planes.ts";
import type { InstallerSpec } from "../harness/in-process-installer.ts";

export interface AgentCluster {
  readonly plane: PlaneAccess;
  readonly client: ClusterClient;
  readonly charts: ChartServer;
  readonly spec: InstallerSpec;
}

/** Lasts for the file. */
export async function startAgentCluster(): Promise<AgentCluster> {
  const dir = await testDir({ onTestFinished: afterAll });
  const { helm, kustomize, confine } = await ensureBinaries(["helm", "kustomize", "confine"]);
  const plane = await leaseControlPlane("cluster");
  const client = await connectCluster(plane.kubeconfig);
  afterAll(() => client.close());
  await client.create(namespaces, { metadata: { name: agentNamespace } });
  const charts = await startChartServer();
  afterAll(() => charts.close());
  return {
    plane,
    client,
    charts,
    spec: { kubeconfig: plane.kubeconfig, helm, kustomize, confine, dataDir: join(dir, "data") },
  };
}
