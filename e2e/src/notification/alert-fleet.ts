/** A fleet with Alerts and Providers, and the two namespaces of the user stories. */
import { type Alert, alerts, type Provider, providers } from "@flotilla/shared/flux";
import {
  apiVersionOf,
  type CustomResourceDefinition,
  customResourceDefinitions,
  type KubeObject,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import type { ChartServer } from "../harness/chart-server.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestFleet, TestFleetSpec } from "../harness/fleet.ts";
import { createWorkspace, type Workspace } from "../harness/workspace.ts";
import { type Sink, startSink } from "./sink.ts";

export interface AlertFleet {
  readonly fleet: TestFleet;
  readonly charts: ChartServer;
  readonly sink: Sink;
  readonly prod: Workspace;
  readonly staging: Workspace;
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
  await installDefinitions();

  async function installDefinitions(): Promise<void> {
    const kinds: readonly Resource<KubeObject>[] = [alerts, providers];
    for (const kind of kinds)
      await hub.create(customResourceDefinitions, definitionOf(kind)).catch(() => undefined);
    for (const kind of kinds) await untilServed(() => hub.list(kind));
  }

  return {
    ...{ fleet, charts, sink },
    prod: createWorkspace(hub, "prod"),
    staging: createWorkspace(hub, "staging"),
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

function definitionOf({
  group,
  version,
  kind,
  plural,
}: Resource<KubeObject>): CustomResourceDefinition {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: "Namespaced",
      versions: [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
}

async function untilServed(ask: () => Promise<unknown>): Promise<void> {
  for (let left = 50; ; left -= 1) {
    try {
      await ask();
      return;
    } catch (thrown) {
      if (left === 0) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
