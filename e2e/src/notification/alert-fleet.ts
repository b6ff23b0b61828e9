/** A fleet with Alerts and Providers, and the two namespaces of the user stories. */

import { hubNamespace } from "@flotilla/shared/api/names";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { leases } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import type { ChartServer } from "../harness/chart-server.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestFleet, TestFleetSpec } from "../harness/fleet.ts";
import type { TestReplica } from "../harness/processes.ts";
import { createWorkspace, type Workspace } from "../harness/workspace.ts";
import { type Alerts, createAlerts } from "./alerts.ts";
import { type Sink, startSink } from "./sink.ts";

export interface AlertFleet extends Alerts {
  readonly fleet: TestFleet;
  readonly charts: ChartServer;
  readonly sink: Sink;
  readonly prod: Workspace;
  readonly staging: Workspace;
  /** The replica that leads. */
  leader(): Promise<TestReplica>;
}

/** Lasts for the file. One cluster in each of the workspaces `prod` and `staging`. */
export async function startAlertFleet(spec: Partial<TestFleetSpec> = {}): Promise<AlertFleet> {
  const [{ fleet, charts }, sink] = await Promise.all([
    startFleetForFile({ clusters: [{}, {}], workspaces: ["prod", "staging"], ...spec }),
    startSink(),
  ]);
  afterAll(() => sink.close());
  const { hub } = fleet;

  return {
    ...createAlerts(hub),
    ...{ fleet, charts, sink },
    prod: createWorkspace(hub, "prod"),
    staging: createWorkspace(hub, "staging"),
    async leader() {
      const lease = await hub.reader.get(leases, { namespace: hubNamespace, name: "flotilla-hub" });
      const holder = holderOf(lease ?? { metadata: { name: "" } }) ?? "";
      const found = fleet.replicas.find((replica) => holder.startsWith(`${replica.name}_`));
      if (found === undefined) throw new Error(`no replica leads: ${holder}`);
      return found;
    },
  };
}
