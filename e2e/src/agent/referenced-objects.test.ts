/** Credentials that are late, wrong, rotated or missing, with the real Helm and a real repository. */

import assert from "node:assert/strict";
import type { AssignmentRequest } from "@flotilla/agent/state";
import type { ReferencedObject } from "@flotilla/proto";
import { packContent, unpackContent } from "@flotilla/shared/content";
import { packClusterInfo, packReferencedObject } from "@flotilla/shared/referenced";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, test } from "vitest";
import { type Login, startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { configChart } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { releaseHistory } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";

const cluster = await startAgentCluster();
const right: Login = { username: "me", password: "right" };
const charts = await startAuthenticatedCharts(right);
afterAll(() => charts[Symbol.asyncDispose]());
// A clock that does not advance, so that no retry is due.
const agent = await startInstaller({ ...cluster.spec, clock: createFakeClock() });
afterAll(() => agent.stop());
const info = await packClusterInfo({
  namespace: "fleet-default",
  name: "paris",
  labels: {},
  annotations: {},
  templateValues: {},
});

const source = { kind: "Secret", name: "source" } as const;

/** A deployment that references a Secret for its chart. */
async function withSecret(name: string, secret: string = source.name): Promise<AssignmentRequest> {
  const chart = await configChart(name, "1.0.0");
  charts.publish(chart);
  const open = await assignmentOf({ name, chart, url: charts.origin });
  const content = await unpackContent({
    deploymentId: open.deploymentId,
    bytes: open.content ?? new Uint8Array(),
  });
  const { deploymentId, bytes } = await packContent({
    ...content,
    access: { secret, repository: charts.origin },
  });
  return { ...open, deploymentId, content: bytes };
}

async function sourceWith(login: Partial<Login>): Promise<ReferencedObject> {
  const data = Object.fromEntries(
    Object.entries(login).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  const { digest, bytes } = await packReferencedObject({ type: "Opaque", data });
  return { ...source, packed: { digest, content: bytes } };
}

test("a deployment waits for its Secret, fails with a wrong one, and is installed at once with the right one", async () => {
  await agent.intake.setClusterInfo(info);
  await agent.intake.assign(await withSecret("late"));
  const waiting = await agent.report(({ name, message }) => name === "late" && message !== "");
  assert.equal(waiting.phase, "pending");
  assert.match(waiting.message, /^waiting for the hub to send the Secret fleet-default\/source, /);

  await agent.intake.setReferencedObject(source);
  const missing = await agent.report(({ phase }) => phase === "failed");
  assert.match(missing.message, /^the hub has no Secret fleet-default\/source, /);
  assert.equal(missing.retryAt, undefined);

  await agent.intake.setReferencedObject(await sourceWith({ username: "me" }));
  await agent.report(({ code }) => code === "REPOSITORY_SECRET_INVALID");

  await agent.intake.setReferencedObject(await sourceWith({ ...right, password: "wrong" }));
  const rejected = await agent.report(({ code }) => code === "REGISTRY_UNAUTHORIZED");
  assert.ok(rejected.retryAt !== undefined);
  assert.doesNotMatch(rejected.message, /wrong/);

  await agent.intake.setReferencedObject(await sourceWith(right));
  await agent.report(({ phase }) => phase === "deployed");
  assert.deepEqual(await releaseHistory(cluster.client, "late"), ["1 deployed"]);
});

test("a rotated Secret runs nothing; one that is deleted on the hub is reported, and still used", async () => {
  const runs = agent.helmRuns.length;

  await agent.intake.setReferencedObject(await sourceWith({ ...right, password: "rotated" }));
  await agent.intake.setReferencedObject(source);
  const reported = await agent.report(
    ({ name, message }) => name === "late" && message.includes("any more"),
  );

  assert.equal(reported.phase, "deployed");
  assert.equal(
    reported.message,
    "the hub does not have the Secret source any more; what was installed with it stays",
  );
  assert.equal(agent.helmRuns.length, runs);

  await agent.intake.setReferencedObject(await sourceWith(right));
  await agent.intake.setReferencedObject(source);
  await agent.intake.assign(await withSecret("meanwhile"));
  await agent.report(({ name, phase }) => name === "meanwhile" && phase === "deployed");
});

test("a Secret that is withdrawn before its deployment changes is deleted after the change", async () => {
  const other = { kind: "Secret", name: "other" } as const;
  await agent.intake.setReferencedObject({ ...(await sourceWith(right)), ...other });
  await agent.intake.assign(await withSecret("changed", other.name));
  await agent.report(({ name, phase }) => name === "changed" && phase === "deployed");

  await agent.intake.withdrawReferencedObject(other);
  assert.equal(agent.intake.referencedObjects().length, 2);
  await agent.intake.assign(await withSecret("changed"));

  assert.deepEqual(
    agent.intake.referencedObjects().map(({ name }) => name),
    [source.name],
  );
  await agent.intake.withdraw({ name: "changed", uid: "uid-changed" });
  await agent.withdrawn("changed");
});

test("a withdrawn Secret stays for the deployments that use it, and is deleted with the last of them", async () => {
  await agent.intake.withdrawReferencedObject(source);
  assert.equal(agent.intake.referencedObjects().length, 1);

  const [first, second] = agent.intake.deployments();
  assert.ok(first !== undefined && second !== undefined);
  await agent.intake.withdraw(first);
  await agent.withdrawn(first.name);
  assert.equal(agent.intake.referencedObjects().length, 1);
  await agent.intake.withdraw(second);
  await agent.withdrawn(second.name);
  await agent.stop();

  assert.deepEqual(agent.intake.referencedObjects(), []);
});
