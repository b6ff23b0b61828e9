/**
 * An agent that has lost its inventory or an assignment, on a real control plane and with the real Helm: what it takes over, and
 * what it does not.
 */
import assert from "node:assert/strict";
import { agentNamespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { installedConfig, releaseHistory } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { hasCode, isDeployed, runsOf } from "./agent-reports.ts";
import {
  assign,
  deleteAgentSecrets,
  edited,
  isInKubeSystem,
  recordOf,
  rejectedChart,
  withHook,
} from "./release-records.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const first = await configChart("settings", "0.1.0");
const rejected = await rejectedChart("settings", "0.3.0");
charts.publish(first, rejected);
const agent = await startRestartableAgent(spec);

test("a withdrawal uninstalls a release whose assignment was lost", async () => {
  const { deployment } = await assign(agent, { name: "lost", chart: first, url });
  await agent.report(isDeployed("lost", "0.1.0"));
  await agent.stop();
  await client.delete(secrets, { namespace: agentNamespace, name: "assignment-lost" });
  await agent.start();
  assert.ok(!agent.intake.deployments().some(({ name }) => name === "lost"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("lost");

  assert.deepEqual(await releaseHistory(client, "lost"), []);
  assert.equal(await installedConfig(client, "lost"), undefined);
});

test("releases of an agent without an inventory are taken over once, without a run of Helm", async () => {
  const { deployment } = await assign(agent, { name: "older", chart: first, url });
  await agent.report(isDeployed("older", "0.1.0"));
  await agent.stop();
  await deleteAgentSecrets(client, "inventory");

  for (const _start of ["first", "second"]) {
    await agent.start();
    await agent.report(isDeployed("older", "0.1.0"));
    assert.deepEqual(
      agent.reports.filter(({ name, phase }) => name === "older" && phase === "failed"),
      [],
    );
    assert.deepEqual(runsOf(agent, "older"), []);
    await agent.stop();
  }
  await agent.start();
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("older");
  assert.ok(runsOf(agent, "older").every((args) => !args.includes("--no-hooks")));
});

test("an agent that has lost everything takes over what is assigned again, and reports what is withdrawn", async () => {
  const request = await assign(agent, { name: "again", chart: first, url });
  const { deployment, deploymentId, content } = await assign(agent, {
    name: "gone",
    chart: first,
    url,
  });
  assert.ok(content !== undefined);
  await agent.report(isDeployed("again", "0.1.0"));
  await agent.report(isDeployed("gone", "0.1.0"));
  await agent.stop();
  await deleteAgentSecrets(client, "");
  await agent.start();

  await agent.intake.assign(request);
  await agent.report(isDeployed("again", "0.1.0"));
  await agent.intake.withdraw(deployment, { lost: { deploymentId, content } });
  const reported = await agent.report(({ name, message }) => name === "gone" && message !== "");

  assert.deepEqual(agent.helmRuns, []);
  assert.match(reported.message, /release gone\/gone is not uninstalled: revision 1, /);
  await client.delete(secrets, { namespace: "gone", name: "sh.helm.release.v1.gone.v1" });
});

test("a record that names a deployment whose first release failed is not taken over", async () => {
  await agent.stop();
  await deleteAgentSecrets(client, "");
  await agent.start();
  const failing = { name: "early", chart: rejected, url, helm: { atomic: true } };
  const { deployment } = await assign(agent, failing);
  await agent.report(({ name, phase }) => name === "early" && phase === "failed");
  await assign(agent, { name: "sample", chart: first, url });
  await agent.report(isDeployed("sample", "0.1.0"));
  const record = await recordOf(client, "sample", 1);
  await client.create(secrets, {
    metadata: {
      namespace: "early",
      name: "sh.helm.release.v1.early.v1",
      labels: {
        ...record.metadata.labels,
        name: "early",
        "flotilla.dev/deployment": deployment.name,
        "flotilla.dev/uid": deployment.uid,
      },
    },
    type: record.type ?? "",
    data:
      edited(record, (release) => ({
        ...withHook("planted")(release),
        name: "early",
        namespace: "early",
      })) ?? {},
  });
  await agent.restart();
  await agent.report(hasCode("early", "RELEASE_NOT_OURS"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("early");

  assert.equal(await isInKubeSystem(client, "planted"), false);
  assert.deepEqual(await releaseHistory(client, "early"), ["1 deployed"]);
});
