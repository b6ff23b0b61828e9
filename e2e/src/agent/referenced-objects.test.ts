/** What an agent makes of credentials that are late, wrong, rotated or gone, with real Helm and a real repository. */

import assert from "node:assert/strict";
import type { AssignmentRequest } from "@flotilla/agent/assignment";
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
// It stands still: what happens does not wait for the time of a retry.
const agent = await startInstaller({ ...cluster.spec, clock: createFakeClock() });
afterAll(() => agent.stop());
const facts = await packClusterInfo({
  namespace: "fleet-default",
  name: "paris",
  labels: {},
  annotations: {},
  templateValues: {},
});

const source = { kind: "Secret", name: "source" } as const;

/** A deployment that names a Secret for its chart. */
async function guarded(name: string, secret: string = source.name): Promise<AssignmentRequest> {
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

async function supplied(login: Partial<Login>): Promise<ReferencedObject> {
  const data = Object.fromEntries(
    Object.entries(login).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  const { digest, bytes } = await packReferencedObject({ type: "Opaque", data });
  return { ...source, packed: { digest, content: bytes } };
}

test("a deployment waits for its Secret, fails with a wrong one, and is installed at once with the right one", async () => {
  await agent.intake.setClusterInfo(facts);
  await agent.intake.assign(await guarded("late"));
  const waiting = await agent.report(({ name, message }) => name === "late" && message !== "");
  assert.equal(waiting.phase, "pending");
  assert.match(waiting.message, /^waiting for the hub to send the Secret fleet-default\/source, /);

  await agent.intake.setReferencedObject(source);
  const missing = await agent.report(({ phase }) => phase === "failed");
  assert.match(missing.message, /^the hub has no Secret fleet-default\/source, /);
  assert.equal(missing.retryAt, undefined);

  await agent.intake.setReferencedObject(await supplied({ username: "me" }));
  await agent.report(({ code }) => code === "REPOSITORY_SECRET_INVALID");

  await agent.intake.setReferencedObject(await supplied({ ...right, password: "wrong" }));
  const refused = await agent.report(({ code }) => code === "REGISTRY_UNAUTHORIZED");
  assert.ok(refused.retryAt !== undefined);
  assert.doesNotMatch(refused.message, /wrong/);

  await agent.intake.setReferencedObject(await supplied(right));
  await agent.report(({ phase }) => phase === "deployed");
  assert.deepEqual(await releaseHistory(cluster.client, "late"), ["1 deployed"]);
});

test("a rotated Secret runs nothing; one that the hub lost is told of, and used as it was", async () => {
  const runs = agent.helmRuns.length;

  await agent.intake.setReferencedObject(await supplied({ ...right, password: "rotated" }));
  await agent.intake.setReferencedObject(source);
  const lost = await agent.report(
    ({ name, message }) => name === "late" && message.includes("any more"),
  );

  assert.equal(lost.phase, "deployed");
  assert.equal(
    lost.message,
    "the hub does not have the Secret source any more; what was installed with it stays",
  );
  assert.equal(agent.helmRuns.length, runs);

  await agent.intake.setReferencedObject(await supplied(right));
  await agent.intake.setReferencedObject(source);
  await agent.intake.assign(await guarded("meanwhile"));
  await agent.report(({ name, phase }) => name === "meanwhile" && phase === "deployed");
});

test("a Secret that is withdrawn before what named it has changed goes once that has", async () => {
  const other = { kind: "Secret", name: "other" } as const;
  await agent.intake.setReferencedObject({ ...(await supplied(right)), ...other });
  await agent.intake.assign(await guarded("changed", other.name));
  await agent.report(({ name, phase }) => name === "changed" && phase === "deployed");

  await agent.intake.withdrawReferencedObject(other);
  assert.equal(agent.intake.referencedObjects().length, 2);
  await agent.intake.assign(await guarded("changed"));

  assert.deepEqual(
    agent.intake.referencedObjects().map(({ name }) => name),
    [source.name],
  );
  await agent.intake.withdraw({ name: "changed", uid: "uid-changed" });
  await agent.withdrawn("changed");
});

test("a withdrawn Secret stays for what is installed with it, and goes with the last of that", async () => {
  await agent.intake.withdrawReferencedObject(source);
  assert.equal(agent.intake.referencedObjects().length, 1);

  const [first, second] = agent.intake.inventory();
  assert.ok(first !== undefined && second !== undefined);
  await agent.intake.withdraw(first);
  await agent.withdrawn(first.name);
  assert.equal(agent.intake.referencedObjects().length, 1);
  await agent.intake.withdraw(second);
  await agent.withdrawn(second.name);
  await agent.stop();

  assert.deepEqual(agent.intake.referencedObjects(), []);
});
