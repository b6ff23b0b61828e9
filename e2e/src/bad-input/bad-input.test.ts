/**
 * What people, repositories, registries and agents get wrong, on one real fleet: each is said where somebody looks, with
 * what to change, and none of it touches what is deployed.
 */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleDeployments, bundles, clusters, helmOps } from "@flotilla/shared/api";
import { events, type KubeObject } from "@flotilla/shared/kube/objects";
import { beforeAll, describe, test } from "vitest";
import { startSilentServer } from "../harness/silent-server.ts";
import { badChanges } from "./bad-changes.ts";
import { startWorld } from "./bad-input-fleet.ts";
import type { HelmRecord } from "./observed.ts";
import { changesAreRefused, guarded } from "./rejected-changes.ts";
import { chartsAreRefused } from "./rejected-charts.ts";
import { namesCollide, targetsLeadNowhere } from "./targets-and-names.ts";
import { strangersAreTurnedAway } from "./unknown-agents.ts";

const world = await startWorld();
const { fleet, bench, goodSpec, password } = world;
const changes = badChanges(world);
/** What runs before anything goes wrong, and by their HelmOps' names what Helm has of it. */
const running = [guarded, ...changes.map(({ name }) => name)];
let recordsBefore: readonly HelmRecord[] = [];

beforeAll(async () => {
  await Promise.all(running.map((name) => bench.create(name, goodSpec)));
  await Promise.all(running.map((name) => bench.ready(name)));
  recordsBefore = await bench.recordsOf();
});

describe("bad input", { concurrent: true }, () => {
  changesAreRefused(world, changes);
  chartsAreRefused(world);
  targetsLeadNowhere(world);
  namesCollide(world);
  strangersAreTurnedAway(world);
});

test("nothing that was deployed has been touched: Helm has one revision of each, the very first", async () => {
  assert.deepEqual(
    recordsBefore.map(({ name }) => name).sort(),
    running.map((name) => `sh.helm.release.v1.${name}.v1`).sort(),
  );

  const releases = new Set(running);
  const after = (await bench.recordsOf()).filter(({ labels }) =>
    releases.has(labels?.["name"] ?? ""),
  );
  assert.deepEqual(after, recordsBefore);
});

test("no password that stands in an address has been shown", async () => {
  const seen: (readonly [where: string, text: string])[] = [];
  const lists: readonly {
    readonly items: readonly (KubeObject & { readonly status?: unknown })[];
  }[] = [
    await fleet.hub.list(helmOps),
    await fleet.hub.list(bundles),
    await fleet.hub.list(bundleDeployments),
    await fleet.hub.list(clusters),
  ];
  for (const { kind, metadata, status } of lists.flatMap(({ items }) => items))
    seen.push([`${kind} ${metadata.name}`, JSON.stringify(status ?? {})]);
  for (const event of (await fleet.hub.list(events)).items)
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

test("a repository that never answers holds up nobody else, however many ask it", async () => {
  const silent = await startSilentServer();
  try {
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        bench.create(`silent-${at}`, {
          ...goodSpec,
          helm: { repo: `${silent.url}/${at}`, chart: "web" },
        }),
      ),
    );
    // As many as the hub asks one host at a time.
    await silent.asked(8);

    await bench.create("beside-silence", goodSpec);
    await bench.ready("beside-silence");

    assert.equal(silent.givenUp, 0);
  } finally {
    await silent.close();
  }
});
