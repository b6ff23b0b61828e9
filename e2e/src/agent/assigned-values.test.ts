/** The values of an assignment, and how it is stored, on a real control plane and with the real Helm, without a hub. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { partSelector } from "@flotilla/agent/state";
import { agentNamespace } from "@flotilla/shared/api/names";
import { rawNumber } from "@flotilla/shared/json";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { isReady, runsOf } from "./agent-reports.ts";
import { assignmentOf } from "./assignment.ts";
import { startRestartableAgent } from "./restartable-agent.ts";
import { resourceQuotas, waitUntilSecretsAre } from "./secret-quota.ts";
import { numbersChart } from "./test-charts.ts";

const run = promisify(execFile);
const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const first = await configChart("settings", "0.1.0");
const second = await configChart("settings", "0.2.0");
charts.publish(first, second);
const agent = await startRestartableAgent(spec);

function dataOf(object: unknown): unknown {
  return typeof object === "object" && object !== null && Reflect.get(object, "data");
}

test("values are passed to the chart, and not in arguments", async () => {
  const greeting = "not for the process list";
  await agent.intake.assign(
    await assignmentOf({ name: "values", chart: first, url, values: { greeting } }),
  );
  await agent.report(isReady("values", 1));

  const config = await client.reader.get(configMaps, {
    namespace: "values",
    name: "values-config",
  });
  assert.equal(config?.data?.["greeting"], greeting);
  assert.ok(!agent.helmRuns.flat().some((argument) => argument.includes(greeting)));
});

test("numbers are passed to the chart as in a values file that Helm reads itself", async () => {
  const numbers = [
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "12345678901234567890",
    "-1234567890123456789",
    "1000000",
    "0.1",
    "1e3",
    "1.0",
  ];
  const printing = await numbersChart("printing", "0.1.0");
  charts.publish(printing);
  const path = join(spec.dataDir, "printing.tgz");
  await writeFile(path, printing.bytes);
  const file = join(spec.dataDir, "numbers.yaml");
  await writeFile(file, `numbers: [${numbers.join(", ")}]\n`);
  const { stdout } = await run(spec.helm, ["template", "numbers", path, `--values=${file}`]);

  const values = { numbers: numbers.map(rawNumber) };
  await agent.intake.assign(await assignmentOf({ name: "numbers", chart: printing, url, values }));
  await agent.report(isReady("numbers", 1));

  const config = await client.reader.get(configMaps, {
    namespace: "numbers",
    name: "numbers-config",
  });
  assert.deepEqual(config?.data, dataOf(parseHelmYaml(stdout, { name: "the output of helm" })));
  assert.match(config?.data?.["plain"] ?? "", /^9.007199254740991e\+15 9.007199254740992e\+15 /);
});

test("values as large as Helm can store are stored and installed, and are found after a restart", async () => {
  const values = { blob: randomBytes(730_000).toString("base64") };
  const assignment = await assignmentOf({ name: "large", chart: first, url, values });
  assert.ok((assignment.content?.length ?? 0) > 700 * 1024);

  await agent.intake.assign(assignment);
  await agent.report(isReady("large", 1));

  await agent.restart();
  await agent.report(isReady("large", 1));
  assert.equal(runsOf(agent, "large").length, 0);
});

test("values larger than Helm can store are stored in parts, and rejected with the message of Helm", async () => {
  const values = { blob: randomBytes(1_400_000).toString("base64") };
  const assignment = await assignmentOf({ name: "too-large", chart: first, url, values });
  const parts = async (): Promise<number> =>
    (await client.list(secrets, { namespace: agentNamespace, labelSelector: partSelector })).items
      .length;

  assert.equal(await agent.intake.assign(assignment), true);
  const failed = await agent.report(
    ({ name, phase }) => name === "too-large" && phase === "failed",
  );
  assert.match(failed.message, /Too long: may not be more than 1048576 bytes/);
  assert.equal(await parts(), 1);

  await agent.intake.withdraw(assignment.deployment);
  await agent.withdrawn("too-large");
  assert.equal(await parts(), 0);
});

test("an assignment that cannot be stored is not installed, and reports why", async () => {
  const quota = { namespace: agentNamespace, name: "full" };
  await client.create(resourceQuotas, { metadata: quota, ...{ spec: { hard: { secrets: "0" } } } });
  await waitUntilSecretsAre(client, "rejected");

  const isStored = await agent.intake.assign(
    await assignmentOf({ name: "not-stored", chart: first, url }),
  );
  const failed = await agent.report(
    ({ name, phase }) => name === "not-stored" && phase === "failed",
  );
  assert.equal(isStored, false);
  assert.match(
    failed.message,
    /^store the assignment in this cluster: create secrets flotilla-agent\/assignment-not-stored on .*: 403 Forbidden: .*quota.*; retrying at /,
  );
  assert.equal(runsOf(agent, "not-stored").length, 0);

  await client.delete(resourceQuotas, quota);
  await waitUntilSecretsAre(client, "accepted");
  assert.equal(
    await agent.intake.assign(await assignmentOf({ name: "not-stored", chart: second, url })),
    true,
  );
  await agent.report(isReady("not-stored", 1));
});
