/** An agent behind an HTTP proxy, with the environment that its chart makes of `proxy`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startHttpProxy } from "@flotilla/shared/source/testing";
import { afterAll, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { configChart } from "../harness/chart-archive.ts";
import { chartDir, charts as chartsOfFlotilla } from "../harness/chart-rights.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { installedConfig } from "../harness/releases.ts";

/** Only the proxy can resolve it. */
const hubName = "hub.flotilla.test";
const proxy = await startHttpProxy(undefined, { [hubName]: "127.0.0.1" });
afterAll(() => proxy[Symbol.asyncDispose]());

interface DeploymentLike {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly env: readonly { readonly name: string; readonly value?: string }[];
        }[];
      };
    };
  };
}

async function environmentOf(...values: readonly string[]): Promise<Record<string, string>> {
  const { helm } = await ensureBinaries(["helm"]);
  const { chart, namespace } = chartsOfFlotilla.agent;
  const args = ["template", chart, chartDir(chart), `--namespace=${namespace}`];
  const { stdout } = await promisify(execFile)(helm, [
    ...[...args, "--show-only=templates/deployment.yaml"],
    ...values.map((value) => `--set=${value}`),
  ]);
  const [deployment] = parseAllDocuments(stdout).map((each) => each.toJS() as DeploymentLike);
  const env = deployment?.spec.template.spec.containers[0]?.env ?? [];
  return Object.fromEntries(
    env.flatMap(({ name, value }) =>
      value !== undefined && /proxy$/i.test(name) ? [[name, value]] : [],
    ),
  );
}

const { fleet, charts, cluster } = await startFleetForFile({
  clusters: [{}],
  hubFlags: ({ grpc }) => [`--advertise=${hubName}:${grpc}`],
  agentEnvironment: await environmentOf(
    `proxy.https=http://${proxy.host}`,
    "proxy.noProxy=127.0.0.1",
  ),
});

test("reaches the hub through the proxy, and what noProxy names without it", async () => {
  charts.publish(await configChart("web", "1.0.0"));
  await fleet.workspace.createHelmOp("web", {
    helm: { repo: charts.url, chart: "web", version: "1.0.0" },
  });

  await fleet.workspace.waitUntilReady("web", "1.0.0", 1);

  assert.ok((await installedConfig(cluster.client, "web")) !== undefined);
  assert.deepEqual([...new Set(proxy.passed)], [`CONNECT ${hubName}:${fleet.hubPorts.grpc}`]);
});
