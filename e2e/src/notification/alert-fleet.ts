/** A fleet with Alerts and Providers, and the two namespaces of the user stories. */

import { hubNamespace } from "@flotilla/shared/api/names";
import { type Alert, alerts, type Provider, providers } from "@flotilla/shared/flux";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { apiVersionOf, leases, secrets } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import type { ChartServer } from "../harness/chart-server.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestFleet, TestFleetSpec } from "../harness/fleet.ts";
import type { TestReplica } from "../harness/processes.ts";
import { createWorkspace, type Workspace } from "../harness/workspace.ts";
import { type Sink, startSink } from "./sink.ts";

export interface AlertFleet {
  readonly fleet: TestFleet;
  readonly charts: ChartServer;
  readonly sink: Sink;
  readonly prod: Workspace;
  readonly staging: Workspace;
  /** The replica that leads. */
  leader(): Promise<TestReplica>;
  provider(
    namespace: string,
    name: string,
    spec: NonNullable<Provider["spec"]>,
    secret?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** To the Provider of its name; of the severity `info` unless said otherwise. */
  alert(
    namespace: string,
    name: string,
    spec: Partial<NonNullable<Alert["spec"]>> & Pick<NonNullable<Alert["spec"]>, "eventSources">,
  ): Promise<void>;
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
    async provider(namespace, name, providerSpec, secret) {
      if (secret !== undefined)
        await hub.create(secrets, {
          metadata: { namespace, name },
          data: Object.fromEntries(
            Object.entries(secret).map(([key, text]) => [
              key,
              Buffer.from(text).toString("base64"),
            ]),
          ),
        });
      await hub.create(providers, {
        ...{ apiVersion: apiVersionOf(providers), kind: providers.kind },
        metadata: { namespace, name },
        spec: { ...providerSpec, ...(secret !== undefined && { secretRef: { name } }) },
      });
    },
    async alert(namespace, name, alertSpec) {
      await hub.create(alerts, {
        ...{ apiVersion: apiVersionOf(alerts), kind: alerts.kind },
        metadata: { namespace, name },
        spec: { providerRef: { name }, eventSeverity: "info", ...alertSpec },
      });
    },
  };
}
