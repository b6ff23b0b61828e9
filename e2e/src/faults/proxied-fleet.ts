/**
 * A fleet of one cluster with a proxy between agent and hub, and one HelmOp that is changed while connections and processes
 * fail. A hook of its chart leaves a trace of each run of Helm.
 */

import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { afterEach } from "vitest";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet, TestFleetSpec } from "../harness/fleet.ts";
import type { LinkProxy } from "../harness/link-proxy.ts";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { auditRelease } from "./audit-release.ts";
import { installedIn, revisionsIn, tracesIn } from "./cluster-state.ts";
import { hookedChart } from "./hooked-chart.ts";

export interface ProxiedFleet {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** Healed after each test. */
  readonly link: LinkProxy;
  /** Changes the values of the HelmOp. */
  change(): Promise<void>;
  /**
   * Resolves once the last change is installed and reported. Asserts that each change was installed once at most;
   * `interruptions`: how often the agent was killed so far, which may have Helm start a run again.
   */
  converged(interruptions?: () => number): Promise<void>;
  clusterThat(what: string, isDesired: (cluster: Cluster) => boolean): Promise<Cluster>;
  /** Resolves once the Cluster is offline in its status and conditions; asserts that this takes at most 30 s from `since`. */
  offlineOnHub(since: number): Promise<void>;
  /** The body of the agent's readiness endpoint. */
  readiness(): Promise<string>;
  /** Resolves with the agent's warning, behind `from` in its log, that it is not connected. */
  agentWarning(from: number, pattern: RegExp): Promise<string>;
}

export const isConnected = ({ status }: Cluster): boolean => status?.agent?.connected === true;

const name = "web";

/** Lasts for the file. */
export async function startProxiedFleet(
  spec: Pick<TestFleetSpec, "ownPlanes"> = {},
): Promise<ProxiedFleet> {
  const { fleet, charts, cluster } = await startFleetForFile({
    clusters: [{}],
    proxied: true,
    ...spec,
  });
  const { link, workspace } = fleet;
  assert.ok(link !== undefined);
  afterEach(() => link.heal());
  charts.publish(await hookedChart("1.0.0"));

  const helm = { repo: charts.url, chart: "hooked", version: "1.0.0", maxHistory: 1_000 };
  let serial = 0;
  await workspace.createHelmOp(name, { helm: { ...helm, values: { serial } } });

  async function converged(interruptions = () => 0): Promise<void> {
    await workspace.waitUntilReady(name, "1.0.0", 1);
    assert.equal(await installedIn(cluster.client, name), `1.0.0 ${serial}`);
    const [revisions, traces] = await Promise.all([
      revisionsIn(cluster.client, name),
      tracesIn(cluster.client, name),
    ]);
    const history = { revisions, traces, desired: serial + 1, interruptions: interruptions() };
    assert.deepEqual(auditRelease(history), [], JSON.stringify(history));
  }

  const clusterThat: ProxiedFleet["clusterThat"] = (what, isDesired) =>
    workspace.waitForCluster(cluster.name, what, isDesired);

  await converged();
  return {
    fleet,
    cluster,
    link,
    converged,
    clusterThat,
    async change() {
      serial += 1;
      await workspace.patchHelmOp(name, { helm: { values: { serial } } });
    },
    async offlineOnHub(since) {
      await clusterThat("offline in status and conditions", (found) => {
        const ready = findCondition(found.status?.conditions, "Ready");
        return (
          !isConnected(found) &&
          found.status?.display?.state === "Offline" &&
          ready?.status === "Unknown" &&
          ready.reason === "Offline"
        );
      });
      const seconds = (performance.now() - since) / 1_000;
      assert.ok(seconds <= 30, `after ${seconds} s`);
    },
    async readiness() {
      const line = await lineInLog(cluster.agentLog, 0, /agent has started/);
      const { health } = JSON.parse(line) as { readonly health: string };
      const address = health.startsWith("http") ? health : `http://${health}`;
      return await (await fetch(`${address}/readyz`)).text();
    },
    agentWarning: (from, pattern) =>
      lineInLog(cluster.agentLog, from, /"level":"warn".*not connected to the hub/, pattern),
  };
}

/** Drops the bytes in these directions, and asserts that both sides detect it and each change is installed once after it. */
export async function assertDropIsNoticed(
  { clusterThat, cluster, link, change, ...rest }: ProxiedFleet,
  sides: Parameters<LinkProxy["drop"]>[0],
): Promise<void> {
  await clusterThat("connected", isConnected);
  const from = await endOfLog(cluster.agentLog);
  const since = performance.now();
  link.drop(sides);
  await change();

  await Promise.all([
    rest.offlineOnHub(since),
    rest.agentWarning(from, /the connection to the hub at .* ended: /),
  ]);
  assert.match(await rest.readiness(), /not connected to the hub: the connection to the hub at/);
  await change();
  link.heal();

  await rest.converged();
  await clusterThat("connected again", isConnected);
}
