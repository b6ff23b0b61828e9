/** What staged rollouts cost a hub, and how fast they are, with simulated agents over the hub's port. */
import { endOfHub } from "../measure/end-of-hub.ts";
import type { Figure } from "../measure/figures.ts";
import { allAndStaged } from "./all-and-staged.ts";
import { gateFigures } from "./gates.ts";
import { killedHubFigures } from "./killed-hub.ts";
import { engineFigures } from "./memory/engine.ts";
import { noStrategyFigures } from "./no-strategy.ts";
import { rollbackFigures } from "./rollback.ts";
import { type StagedFleet, startStagedFleet } from "./staged-fleet.ts";

export interface RolloutsOptions {
  readonly agents: number;
  readonly report: (figures: readonly Figure[]) => void;
}

/** Calls `report` with figures as soon as they are measured. */
export async function stagedRollouts({ agents, report }: RolloutsOptions): Promise<void> {
  report(await engineFigures());
  const fleet = await startStagedFleet(agents);
  try {
    await Promise.race([measure(fleet, report), endOfHub(fleet.bench)]);
  } finally {
    await fleet.close();
  }
}

async function measure(fleet: StagedFleet, report: RolloutsOptions["report"]): Promise<void> {
  report(await noStrategyFigures(fleet));
  report(await allAndStaged(fleet));
  report(await gateFigures(fleet));
  report(await rollbackFigures(fleet));
  report(await killedHubFigures(fleet));
}
