/**
 * A tenant replaces the record that a failed run of Helm has left before the agent reads it. The deployment acts as the agent
 * itself, so what the agent takes for its own record Helm deletes and runs with all rights.
 */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import { configMaps } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { configMapText, rejectedText } from "../harness/object-text.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { hasCode, isDeployed } from "./agent-reports.ts";
import {
  assign,
  edit,
  isInKubeSystem,
  type Release,
  withHook,
  withObject,
} from "./release-records.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const failing = await chartArchive({
  name: "failing",
  version: "0.1.0",
  templates: {
    "config.yaml": configMapText("{{ .Release.Name }}-config"),
    "rejected.yaml": rejectedText("post-install"),
  },
});
charts.publish(failing);

let forgery: ((args: readonly string[]) => Promise<void>) | undefined;
const agent = await startRestartableAgent({
  ...spec,
  helmEnded: async (args) => await forgery?.(args),
});

async function failWith(name: string, change: (release: Release) => Release) {
  forgery = async (args) => {
    if (args[0] === "upgrade" && args.includes(name)) {
      forgery = undefined;
      await edit(client, name, 1, change);
    }
  };
  const assigned = await assign(agent, { name, chart: failing, url: charts.url });
  await agent.report(hasCode(name, "HELM_FAILED"));
  assert.equal(forgery, undefined, "the record was replaced");
  return assigned;
}

test("a hook that was written into the record of a failed run, before the agent read it, does not run", async () => {
  const { deployment } = await failWith("grant", withHook("granted"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("grant");

  assert.equal(await isInKubeSystem(client, "granted"), false);
});

test("an object that was written into the record of a failed run is not deleted", async () => {
  await client.create(configMaps, { metadata: { namespace: "kube-system", name: "kept" } });
  const { deployment } = await failWith("delete", withObject("kept"));

  await agent.intake.withdraw(deployment);
  const stopped = ({ name, phase, message }: DeploymentState) =>
    name === "delete" && phase === "withdrawing" && message !== "";
  await Promise.race([agent.withdrawn("delete"), agent.report(stopped)]);

  assert.equal(await isInKubeSystem(client, "kept"), true);
});

test("an object that was written into the record of a failed run is not deleted by the next upgrade", async () => {
  await client.create(configMaps, { metadata: { namespace: "kube-system", name: "pruned" } });
  await failWith("prune", withObject("pruned"));
  const good = await chartArchive({
    ...{ name: "failing", version: "0.2.0" },
    templates: { "config.yaml": configMapText("{{ .Release.Name }}-config") },
  });
  charts.publish(good);

  await assign(agent, { name: "prune", chart: good, url: charts.url });
  await agent.report(
    (state) => hasCode("prune", "RELEASE_NOT_OURS")(state) || isDeployed("prune", "0.2.0")(state),
  );

  assert.equal(await isInKubeSystem(client, "pruned"), true);
});

test("a run that failed by itself is followed by an upgrade and an uninstallation", async () => {
  const assigned = await assign(agent, { name: "honest", chart: failing, url: charts.url });
  await agent.report(hasCode("honest", "HELM_FAILED"));

  await agent.intake.withdraw(assigned.deployment);
  await agent.withdrawn("honest");

  const left = await client.get(configMaps, { namespace: "honest", name: "honest-config" });
  assert.equal(left, undefined);
});
