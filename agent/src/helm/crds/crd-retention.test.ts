/** What is written to Helm's storage and to definitions in the cluster: a table of the operations. */
import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { describe, test } from "vitest";
import type { ReleaseKey } from "../cli/release-record.ts";
import {
  type CrdClusterOptions,
  createCrdCluster,
  keepAnnotations,
  ownerOf,
  release,
} from "./testing/index.ts";

const elsewhere = { namespace: "market", name: "app" };

interface Given extends CrdClusterOptions {
  readonly operation: "reconcile" | "upgrade" | "removal";
  readonly keep: boolean;
  /** The release moves there. */
  readonly to?: ReleaseKey;
}

interface Expected {
  /** The manifest of the stored release; absent: it is not written. */
  readonly written?: "plain" | "kept";
  /** All annotations of our field manager, by definition that is patched. */
  readonly applied?: Readonly<Record<string, object>>;
  /** The code, and the HTTP status of the cause. */
  readonly error?: string;
}

/** Undefined: it has not failed. */
async function errorOf(run: Promise<void>): Promise<string | undefined> {
  try {
    await run;
    return undefined;
  } catch (thrown) {
    const { code, cause } = AppError.from(thrown);
    return cause instanceof KubeStatusError ? `${code} ${cause.status}` : code;
  }
}

async function perform({ operation, keep, to, ...options }: Given) {
  const { retention, history, policy, applied, written } = createCrdCluster(options);
  const [record] = history;
  assert.ok(record !== undefined);
  const run = {
    reconcile: () => retention.reconcile(record, policy(keep)),
    upgrade: () => retention.beforeUpgrade(release, policy(keep)),
    removal: () => retention.beforeRemoval(record, policy(keep), to),
  }[operation];
  const error = await errorOf(run());
  return { error, applied, written: await written() };
}

function inSync(options: CrdClusterOptions = {}) {
  const cluster = createCrdCluster(options);
  const { history, retention, policy } = cluster;
  const [record] = history;
  assert.ok(record !== undefined);
  return { ...cluster, reconcile: (keep: boolean) => retention.reconcile(record, policy(keep)) };
}

const updateSecret = "replace secrets shop/sh.helm.release.v1.app.v1";
const getCars = "get customresourcedefinitions cars.example.com";
const patchCars = "patch customresourcedefinitions cars.example.com";
const patchBikes = "patch customresourcedefinitions bikes.example.com";
const carsKept = { "cars.example.com": keepAnnotations };
const carsFree = { "cars.example.com": {} };
const carsMoved = { "cars.example.com": ownerOf(elsewhere) };
const bikesMoved = { "bikes.example.com": ownerOf(elsewhere) };
const moves = { operation: "removal", to: elsewhere } as const;

const rows: readonly (readonly [what: string, given: Given, expected: Expected])[] = [
  [
    "of a release in sync are kept by its record and in the cluster, unless the chart says what happens to them",
    { operation: "reconcile", keep: true },
    { written: "kept", applied: carsKept },
  ],
  [
    "of a release in sync cost no write if they are kept already",
    { operation: "reconcile", keep: true, stored: "kept", isAnnotated: true },
    {},
  ],
  [
    "of a release in sync are not kept any more by its record and in the cluster",
    { operation: "reconcile", keep: false, stored: "kept", isAnnotated: true },
    { written: "plain", applied: carsFree },
  ],
  [
    "of a release in sync cost no write if they are not kept already",
    { operation: "reconcile", keep: false },
    {},
  ],
  [
    "of a release in sync that are deleted in the cluster are not created",
    { operation: "reconcile", keep: true, deleted: ["cars.example.com"] },
    { written: "kept" },
  ],
  [
    "of a release without any cost no write",
    { operation: "reconcile", keep: true, stored: "without definitions" },
    {},
  ],
  [
    "of a release in sync are not kept if its record cannot be read",
    { operation: "reconcile", keep: true, stored: "unreadable" },
    { error: "RELEASE_UNREADABLE" },
  ],
  [
    "of a release in sync are not kept if one of them cannot be parsed",
    { operation: "reconcile", keep: true, stored: "broken" },
    { error: "CRDS_NOT_KEPT" },
  ],
  [
    "of a release in sync are not kept if the account may not update its record",
    { operation: "reconcile", keep: true, forbidden: [updateSecret] },
    { error: "CRDS_NOT_KEPT 403" },
  ],
  [
    "of a release in sync are kept by its record also if the account may not patch them",
    { operation: "reconcile", keep: true, forbidden: [patchCars] },
    { error: "CRDS_NOT_KEPT 403", written: "kept" },
  ],
  [
    "of a release in sync are not kept if its record has changed since it was read",
    { operation: "reconcile", keep: true, conflicting: updateSecret },
    { error: "KUBE_CONFLICT" },
  ],
  [
    "of a release that is upgraded are kept in the cluster, where Helm reads it",
    { operation: "upgrade", keep: true },
    { applied: carsKept },
  ],
  [
    "of a release that is upgraded are not kept any more in the cluster",
    { operation: "upgrade", keep: false, stored: "kept", isAnnotated: true },
    { applied: carsFree },
  ],
  [
    "of a release that is upgraded are left alone if its record cannot be read, because Helm cannot read it either",
    { operation: "upgrade", keep: true, stored: "unreadable" },
    {},
  ],
  [
    "of a release that is upgraded prevent it if the account may not read them",
    { operation: "upgrade", keep: true, forbidden: [getCars] },
    { error: "CRDS_NOT_KEPT 403" },
  ],
  [
    "of a release that is upgraded prevent it if one has changed since it was read",
    { operation: "upgrade", keep: true, conflicting: patchCars },
    { error: "KUBE_CONFLICT" },
  ],
  [
    "of a release that is removed are kept by its record, where Helm reads it",
    { operation: "removal", keep: true },
    { written: "kept" },
  ],
  [
    "of a release that is removed are not kept any more by its record",
    { operation: "removal", keep: false, stored: "kept", isAnnotated: true },
    { written: "plain" },
  ],
  [
    "of a release that is removed are left alone if its record cannot be read, because Helm cannot read it either",
    { operation: "removal", keep: false, stored: "unreadable" },
    {},
  ],
  [
    "of a release that is removed prevent it if the account may not update its record",
    { operation: "removal", keep: true, forbidden: [updateSecret] },
    { error: "CRDS_NOT_KEPT 403" },
  ],
  [
    "of a release that moves get its new place as their owner, and are kept",
    { ...moves, keep: true },
    { written: "kept", applied: { ...carsMoved, ...bikesMoved } },
  ],
  [
    "of a release that moves keep the policy that is applied in the cluster",
    { ...moves, keep: true, stored: "kept", isAnnotated: true },
    {
      applied: {
        "cars.example.com": { ...keepAnnotations, ...ownerOf(elsewhere) },
        ...bikesMoved,
      },
    },
  ],
  [
    "of a release that moves get its new place as their owner only if the chart keeps them, if the agent does not",
    { ...moves, keep: false, stored: "kept" },
    { written: "plain", applied: bikesMoved },
  ],
  [
    "of a release that is removed to be installed again at its place keep their owner",
    { ...moves, keep: true, to: release },
    { written: "kept" },
  ],
  [
    "of a release that moves prevent it if the account may not patch one of them, after all others",
    { ...moves, keep: true, forbidden: [patchCars] },
    { error: "CRDS_NOT_KEPT 403", applied: bikesMoved },
  ],
  [
    "of a release that moves prevent it if the account may not patch those that the chart keeps",
    { ...moves, keep: false, forbidden: [patchBikes] },
    { error: "CRDS_NOT_KEPT 403" },
  ],
];

describe("the definitions", () => {
  for (const [what, given, { written, applied = {}, error }] of rows)
    test(what, async () => {
      assert.deepEqual(await perform(given), { written, applied, error });
    });

  test("of a release in sync cost no request once the policy is applied", async () => {
    const { server, reconcile } = inSync();
    await reconcile(true);
    const before = [server.reads.length, server.writes.length];

    await reconcile(true);

    assert.deepEqual([server.reads.length, server.writes.length], before);
  });

  test("of a release in sync get another policy when that changes", async () => {
    const { written, reconcile } = inSync();
    await reconcile(true);
    assert.equal(await written(), "kept");

    await reconcile(false);

    assert.equal(await written(), "plain");
  });

  test("of a release in sync are tried again after a failure", async () => {
    const { server, reconcile, applied } = inSync({ forbidden: [patchCars] });
    await errorOf(reconcile(true));
    server.beforeWrite = () => undefined;

    await reconcile(true);

    assert.deepEqual(applied, carsKept);
  });

  test("of a release that is upgraded are taken from the last deployed revision, with which Helm compares", async () => {
    const { install, retention, policy, applied } = createCrdCluster();
    install(2, "without definitions", "failed");

    await retention.beforeUpgrade(release, policy(true));

    assert.deepEqual(applied, carsKept);
  });

  test("of a release that is upgraded are taken from the last revision if none is deployed", async () => {
    const { install, uninstall, retention, policy, applied } = createCrdCluster();
    uninstall();
    install(3, "plain", "failed");
    install(2, "without definitions", "failed");

    await retention.beforeUpgrade(release, policy(true));

    assert.deepEqual(applied, carsKept);
  });

  test("of a release that is not installed yet are not read", async () => {
    const { server, uninstall, retention, policy } = createCrdCluster();
    uninstall();

    await retention.beforeUpgrade(release, policy(true));

    assert.deepEqual(server.reads, []);
  });
});
