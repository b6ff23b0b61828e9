/** One HelmOp that all agents have gets another chart: until each has it, and until it is Ready everywhere. */
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { untilCount } from "../measure/bench-fleet.ts";
import type { AgentsFleet, Lag } from "./agents-fleet.ts";
import type { Simulation } from "./simulation.ts";

export interface Changed {
  /** From the last write of a BundleDeployment, as a watch delivers it, until the last agent starts to apply it. */
  readonly handedOutMs: number;
  /** From the change of the HelmOp until it is Ready in all clusters. */
  readonly readyMs: number;
  /** The lag of the hub meanwhile. */
  readonly lag: Lag;
  readonly hubCpu: number;
}

export async function changeForAll(
  bench: AgentsFleet,
  simulation: Simulation,
  { agents, round }: { readonly agents: number; readonly round: number },
): Promise<Changed> {
  const { fleet, deployments } = bench;
  const name = "many-1";
  let lastWrittenAt = 0;
  const stop = deployments.onChange(({ before: was, after: is }) => {
    if (was?.spec.deploymentID !== is?.spec.deploymentID) lastWrittenAt = Date.now();
  });
  await bench.hubLag();
  const cpuBefore = await bench.hubCpu();
  const begunAt = Date.now();
  const changed = await fleet.hub.patch(
    helmOps,
    { namespace: workspaceNamespace, name },
    {
      type: "merge",
      body: { spec: { helm: { chart: `https://charts.example.com/web-2.0.${round}.tgz` } } },
    },
  );
  await untilCount(bench.helmOps, 1, (helmOp) => isReady(helmOp, changed, agents));
  const readyMs = Date.now() - begunAt;
  stop();

  const deploymentId = deployments.store.list().find(({ metadata }) => metadata.name === name)
    ?.spec.deploymentID;
  const came = (await simulation.log()).filter(
    (line) => line.msg === "deployment received" && line.deploymentId === deploymentId,
  );
  if (came.length < agents) throw new Error(`only ${came.length} agents received the change`);
  return {
    handedOutMs: Math.max(...came.map(({ at }) => at)) - lastWrittenAt,
    readyMs,
    lag: await bench.hubLag(),
    hubCpu: (await bench.hubCpu()) - cpuBefore,
  };
}

function isReady({ metadata, status }: HelmOp, changed: HelmOp, agents: number): boolean {
  const ready = findCondition(status?.conditions, "Ready");
  return (
    metadata.name === changed.metadata.name &&
    ready?.status === "True" &&
    ready.observedGeneration === changed.metadata.generation &&
    status?.display?.readyBundleDeployments === `${agents}/${agents}`
  );
}
