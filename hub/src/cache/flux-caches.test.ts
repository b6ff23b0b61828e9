/** Flux's kinds beside Flux's controllers, on an API server in memory. */
import assert from "node:assert/strict";
import { fluxLeaseNames } from "@flotilla/shared/api/names";
import { type HelmRelease, helmReleases } from "@flotilla/shared/flux";
import { customResourceDefinitions, type KubeObject, leases } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import { createFluxCaches } from "./flux-caches.ts";

interface SetUp {
  /** The Lease that exists at the start. */
  readonly lease?: string;
  readonly takeOver?: boolean;
}

async function setUp(t: TestContext, { lease, takeOver = false }: SetUp) {
  const server = createMemoryApiServer();
  server.put<KubeObject>(customResourceDefinitions, {
    metadata: { name: "helmreleases.helm.toolkit.fluxcd.io" },
  });
  server.put<HelmRelease>(helmReleases, { metadata: { namespace: "apps", name: "web" } });
  const putLease = (name: string) =>
    void server.put(leases, { metadata: { namespace: "flux-system", name } });
  if (lease !== undefined) putLease(lease);
  const flux = createFluxCaches(server, silentLog(), { takeOver });
  const delivered = new Promise<void>((resolve) => flux.helmReleases.onChange(() => resolve()));
  const stop = new AbortController();
  const running = flux.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  await flux.synced();
  return { server, flux, delivered, putLease, size: () => flux.helmReleases.store.size };
}

describe("HelmReleases", () => {
  for (const lease of fluxLeaseNames) {
    test(`are not read while the Lease ${lease} exists, and are once it is deleted`, async (t) => {
      const { server, flux, delivered, size } = await setUp(t, { lease });
      assert.deepEqual([size(), flux.closed.aborted, flux.isLeftToFlux()], [0, false, true]);

      server.remove(leases, { namespace: "flux-system", name: lease });
      await delivered;

      assert.deepEqual([size(), flux.closed.aborted, flux.isLeftToFlux()], [1, false, false]);
    });

    test(`are read until the Lease ${lease} appears, which ends the process`, async (t) => {
      const { flux, putLease, size } = await setUp(t, {});
      assert.equal(size(), 1);

      const closed = new Promise((resolve) => flux.closed.addEventListener("abort", resolve));
      putLease(lease);
      await closed;

      assert.equal(flux.closed.reason.code, "FLUX_RUNNING");
      assert.match(
        flux.closed.reason.message,
        new RegExp(`^the Lease flux-system/${lease} exists`),
      );
    });
  }

  test("are read beside any other Lease", async (t) => {
    const { flux, size } = await setUp(t, { lease: "image-reflector-controller-leader-election" });

    assert.deepEqual([size(), flux.closed.aborted], [1, false]);
  });

  test("are read beside a Lease of Flux when the hub is to take over", async (t) => {
    const { flux, size } = await setUp(t, { lease: fluxLeaseNames[0] ?? "", takeOver: true });

    assert.deepEqual([size(), flux.closed.aborted, flux.isLeftToFlux()], [1, false, false]);
  });
});
