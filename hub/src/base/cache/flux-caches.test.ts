/** Flux's kinds beside Flux's controllers, on an API server in memory. */
import assert from "node:assert/strict";
import { fluxLeaseNames } from "@flotilla/shared/api/names";
import { type HelmRelease, helmReleases } from "@flotilla/shared/flux";
import { customResourceDefinitions, type KubeObject, leases } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { lineLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import { createFluxCaches } from "./flux-caches.ts";

interface SetUp {
  /** The Lease that exists at the start. */
  readonly lease?: string;
  readonly namespace?: string;
  readonly takeOver?: boolean;
}

const lease = "helm-controller-leader-election";

async function setUp(t: TestContext, { lease, namespace, takeOver = false }: SetUp) {
  const server = createMemoryApiServer();
  server.put<KubeObject>(customResourceDefinitions, {
    metadata: { name: "helmreleases.helm.toolkit.fluxcd.io" },
  });
  server.put<HelmRelease>(helmReleases, { metadata: { namespace: "apps", name: "web" } });
  const putLease = (name: string, namespace = "flux-system") =>
    void server.put(leases, { metadata: { namespace, name } });
  if (lease !== undefined) putLease(lease, namespace);
  let warnings = 0;
  const warned = Promise.withResolvers<void>();
  const log = lineLog({
    name: "hub",
    level: "warn",
    write() {
      warnings += 1;
      if (warnings === 20) warned.resolve();
    },
  });
  const flux = createFluxCaches(server, log, { takeOver, namespaces: ["flux-system", "gitops"] });
  let left = 0;
  flux.onLeft(() => {
    left += 1;
  });
  const stop = new AbortController();
  const running = flux.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  await flux.synced();
  const size = () => flux.helmReleases.store.size;
  return {
    ...{ server, flux, putLease, size },
    /** Resolves when there are twenty lines in the log. */
    warned: warned.promise,
    warnings: () => warnings,
    left: () => left,
    /** Resolves once that many HelmReleases are in the store. */
    has: (count: number) =>
      new Promise<void>((resolve) => {
        flux.helmReleases.onChange(() => {
          if (size() === count) resolve();
        });
        if (size() === count) resolve();
      }),
  };
}

describe("HelmReleases", () => {
  for (const lease of fluxLeaseNames) {
    test(`are not read while the Lease ${lease} exists, and are once it is deleted`, async (t) => {
      const { server, flux, has, size } = await setUp(t, { lease });
      assert.deepEqual([size(), flux.isLeftToFlux()], [0, true]);

      server.remove(leases, { namespace: "flux-system", name: lease });
      await has(1);

      assert.equal(flux.isLeftToFlux(), false);
    });

    test(`are read until the Lease ${lease} appears, not written from then on, and read again once it is deleted`, async (t) => {
      const { server, flux, has, putLease, left } = await setUp(t, {});
      const fenced = flux.fence(server);
      await has(1);

      putLease(lease);
      await has(0);
      assert.deepEqual([flux.isLeftToFlux(), left()], [true, 1]);
      await assert.rejects(fenced.delete(helmReleases, { namespace: "apps", name: "web" }), {
        code: "FLUX_RUNNING",
        message: new RegExp(`^the Lease flux-system/${lease} exists`),
      });

      server.remove(leases, { namespace: "flux-system", name: lease });
      await has(1);
      await fenced.delete(helmReleases, { namespace: "apps", name: "web" });
      assert.equal(left(), 1);
    });
  }

  test("are left to Flux in each namespace that is named", async (t) => {
    const { flux } = await setUp(t, { lease, namespace: "gitops" });

    assert.equal(flux.isLeftToFlux(), true);
  });

  test("are read beside any other Lease", async (t) => {
    const { flux, size } = await setUp(t, { lease: "image-reflector-controller-leader-election" });

    assert.deepEqual([size(), flux.isLeftToFlux()], [1, false]);
  });

  test("are read beside a Lease of Flux when the hub is to take over", async (t) => {
    const { flux, size } = await setUp(t, { lease, takeOver: true });

    assert.deepEqual([size(), flux.isLeftToFlux()], [1, false]);
  });

  // The built-in role edit allows to create Leases, so every tenant can do this.
  test("are read, and written, whatever Leases somebody creates and deletes in their own namespace, and the log says so once for each", async (t) => {
    const { server, flux, warned, warnings, size, putLease, left } = await setUp(t, {
      lease,
      namespace: "my-app",
    });

    server.remove(leases, { namespace: "my-app", name: lease });
    for (let round = 0; round < 30; round += 1) putLease(lease, `my-app-${round}`);
    await warned;
    putLease(lease, "my-app");

    assert.deepEqual([size(), flux.isLeftToFlux(), left()], [1, false, 0]);
    await flux.fence(server).delete(helmReleases, { namespace: "apps", name: "web" });
    assert.equal(warnings(), 20);
  });
});
