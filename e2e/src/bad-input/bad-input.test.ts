/**
 * Invalid HelmOps, faulty repositories and registries, and unknown agents, on one real fleet: each is reported with what to
 * change, and none of it changes a deployment.
 */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleDeployments, bundles, clusters, helmOps } from "@flotilla/shared/api";
import { events, type KubeObject } from "@flotilla/shared/kube/objects";
import { beforeAll, describe, test } from "vitest";
import type { ReleaseRecord } from "../harness/releases.ts";
import { startSilentServer } from "../harness/silent-server.ts";
import { badChanges } from "./bad-changes.ts";
import { startBadInputFleet } from "./bad-input-fleet.ts";
import { testRejectedChanges, validated } from "./rejected-changes.ts";
import { testRejectedCharts } from "./rejected-charts.ts";
import { testEmptyTargets, testNameConflicts } from "./targets-and-names.ts";
import { testUnknownAgents } from "./unknown-agents.ts";

const fixture = await startBadInputFleet();
const { fleet, goodSpec, password } = fixture;
const { workspace } = fleet;
const changes = badChanges(fixture);
/** The HelmOps that are deployed before all tests. */
const deployed = [validated, ...changes.map(({ name }) => name)];
let recordsBefore: readonly ReleaseRecord[] = [];

beforeAll(async () => {
  await Promise.all(deployed.map((name) => workspace.createHelmOp(name, goodSpec)));
  await Promise.all(deployed.map((name) => fixture.ready(name)));
  recordsBefore = await fixture.records();
});

describe("bad input", { concurrent: true }, () => {
  testRejectedChanges(fixture, changes);
  testRejectedCharts(fixture);
  testEmptyTargets(fixture);
  testNameConflicts(fixture);
  testUnknownAgents(fixture);
});

test("no deployment was changed: Helm has one revision of each release, the first", async () => {
  assert.deepEqual(
    recordsBefore.map(({ name }) => name).sort(),
    deployed.map((name) => `sh.helm.release.v1.${name}.v1`).sort(),
  );

  const releases = new Set(deployed);
  const after = (await fixture.records()).filter(({ release }) => releases.has(release));
  assert.deepEqual(after, recordsBefore);
});

test("no password of an address was shown", async () => {
  const seen: (readonly [where: string, text: string])[] = [];
  const { reader } = fleet.hub;
  const objects: readonly (KubeObject & { readonly status?: unknown })[] = [
    ...(await reader.list(helmOps)),
    ...(await reader.list(bundles)),
    ...(await reader.list(bundleDeployments)),
    ...(await reader.list(clusters)),
  ];
  for (const { kind, metadata, status } of objects)
    seen.push([`${kind} ${metadata.name}`, JSON.stringify(status ?? {})]);
  for (const event of await reader.list(events))
    seen.push([`Event of ${event.regarding?.name}`, JSON.stringify(event)]);
  const logs = join(fleet.dir, "logs");
  for (const file of await readdir(logs))
    seen.push([file, await readFile(join(logs, file), "utf8")]);

  assert.ok(seen.some(([where]) => where === "HelmOp password"));
  assert.ok(seen.some(([where]) => where === "hub.log"));
  assert.deepEqual(
    seen.filter(([, text]) => text.includes(password)).map(([where]) => where),
    [],
  );
});

test("a repository that never responds delays no other HelmOp, however many request it", async () => {
  const silent = await startSilentServer();
  try {
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        workspace.createHelmOp(`silent-${at}`, {
          ...goodSpec,
          helm: { repo: `${silent.url}/${at}`, chart: "web" },
        }),
      ),
    );
    // The concurrency limit of the hub for one host.
    await silent.waitForRequests(8);

    await workspace.createHelmOp("unaffected", goodSpec);
    await fixture.ready("unaffected");

    assert.equal(silent.aborted, 0);
  } finally {
    await silent.close();
  }
});
