import assert from "node:assert/strict";
import { apiVersion, type Bundle, bundles } from "@flotilla/shared/api";
import { fleetNamespace, helmReleaseLabel, hubNamespace } from "@flotilla/shared/api/names";
import { leases } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { assertMayEmpty } from "./preconditions.ts";

const fleetLease = {
  metadata: { namespace: fleetNamespace, name: "fleet-helmops-leader-election-shard" },
  spec: { holderIdentity: "fleet-1" },
};
const leaderOf = (holderIdentity: string) => ({
  metadata: { namespace: hubNamespace, name: "flotilla-hub" },
  spec: { holderIdentity },
});
const { signal } = new AbortController();

describe("a fleet is not emptied", () => {
  test("where a Lease of Fleet's controllers exists, with or without its releases", async () => {
    const kube = createMemoryApiServer();
    kube.put(leases, fleetLease);
    kube.put(leases, leaderOf("hub-0"));

    for (const keepReleases of [true, false])
      await assert.rejects(assertMayEmpty(kube, { keepReleases }, signal), {
        code: "FLEET_LEASE_EXISTS",
        message:
          /Lease cattle-fleet-system\/fleet-helmops-leader-election-shard .*; nothing was changed; if Fleet is gone, delete the Lease$/,
      });
  });

  test("where a Lease of Flux's controllers exists and the Bundle of a HelmRelease is not suspended", async () => {
    const kube = createMemoryApiServer();
    kube.put(leases, {
      metadata: { namespace: "flux-system", name: "helm-controller-leader-election" },
      spec: {},
    });
    await assertMayEmpty(kube, { keepReleases: true }, signal);
    const bundle = (name: string, suspend: boolean): Bundle => ({
      apiVersion,
      kind: "Bundle",
      metadata: { namespace: "apps", name, labels: { [helmReleaseLabel]: name } },
      spec: { suspend },
    });
    kube.put(bundles, bundle("left-to-flux", true));
    await assertMayEmpty(kube, { keepReleases: true }, signal);
    kube.put(bundles, bundle("web", false));

    await assert.rejects(assertMayEmpty(kube, { keepReleases: true }, signal), {
      code: "FLUX_LEASE_EXISTS",
      message:
        /Lease flux-system\/helm-controller-leader-election .*Bundle apps\/web .*; nothing was changed; .*; if Flux is gone, delete the Lease$/,
    });
  });

  test("without a hub that leads, unless the releases stay", async () => {
    const kube = createMemoryApiServer();
    await assert.rejects(assertMayEmpty(kube, { keepReleases: false }, signal), {
      code: "HUB_NOT_RUNNING",
    });
    kube.put(leases, leaderOf(""));
    await assert.rejects(assertMayEmpty(kube, { keepReleases: false }, signal), {
      code: "HUB_NOT_RUNNING",
    });

    await assertMayEmpty(kube, { keepReleases: true }, signal);
    kube.put(leases, leaderOf("hub-0"));
    await assertMayEmpty(kube, { keepReleases: false }, signal);
  });
});
