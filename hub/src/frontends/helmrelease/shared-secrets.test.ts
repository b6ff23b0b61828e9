/** Secrets of sources in other namespaces, and what their own namespace says of them. */
import assert from "node:assert/strict";
import { type Policy, policies } from "@flotilla/shared/api";
import { helmReleases } from "@flotilla/shared/flux";
import { namespaces } from "@flotilla/shared/kube/objects";
import type { Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aPolicy, digestA } from "../../testing/index.ts";
import { accessFromAnnotation } from "./shared-sources.ts";
import { aHelmRelease, createTestReleases } from "./testing/index.ts";

const namespace = "apps";
const forEveryCluster = { targets: [{ clusterSelector: {} }] };
const chartRef = { kind: "OCIRepository", name: "web" } as const;
const ociPin: Pin = {
  ...{ kind: "oci", version: "2.0.0+aaaaaaaaaaaa", repository: "oci://r.example.com/web" },
  ...{ tag: "2.0.0", manifestDigest: digestA, layerDigest: digestA, layerSizeBytes: 1, build: {} },
};

describe("a HelmRelease with a source of another namespace", () => {
  const infra = { namespace: "infra" };
  const selectsApps = JSON.stringify({
    namespaceSelectors: [{ matchLabels: { "kubernetes.io/metadata.name": namespace } }],
  });
  const sharing = { ...infra, annotations: { [accessFromAnnotation]: selectsApps } };

  async function planned(shared: typeof infra, policy?: Omit<Policy, "metadata">) {
    const options = { crossNamespaceReferences: true, requireLocalAccount: false };
    const releases = createTestReleases(options);
    const labels = { "kubernetes.io/metadata.name": namespace };
    releases.rest.put(namespaces, { metadata: { name: namespace, labels } });
    if (policy !== undefined) {
      const { metadata, ...fields } = aPolicy("guard", policy);
      releases.rest.put(policies, { ...fields, metadata: { ...metadata, ...infra } });
    }
    releases.putOciRepository(ociPin, shared);
    const { chart: _, ...spec } = aHelmRelease(forEveryCluster).spec ?? {};
    const ref = { ...chartRef, ...infra };
    const release = aHelmRelease();
    releases.rest.put(helmReleases, {
      ...release,
      spec: { interval: "1h", ...spec, chartRef: ref },
    });
    const result = await releases.reconcile();
    return { result, accepted: releases.accepted(), bundle: releases.bundle() };
  }

  test("does not get its Secrets sent to its own clusters", async () => {
    const { result, accepted, bundle } = await planned(infra);

    assert.equal(accepted, "False AccessDenied");
    assert.equal(bundle, undefined);
    assert.equal(result.kind, "requeue");
  });

  test("gets them where the source selects its namespace", async () => {
    const { bundle } = await planned(sharing);

    assert.equal(bundle?.spec.helmOpOptions?.origin?.access?.secret, "infra/login");
  });

  test("gets only those that the Policies of the source's namespace allow", async () => {
    const other = await planned(sharing, { helmOp: { allowedHelmSecretNames: ["public"] } });
    const same = await planned(sharing, { helmOp: { allowedHelmSecretNames: ["login"] } });

    assert.equal(other.accepted, "False PolicyViolation");
    assert.equal(other.bundle, undefined);
    assert.notEqual(same.bundle, undefined);
  });

  test("needs no account that only the source's namespace requires", async () => {
    const { bundle } = await planned(sharing, { requireServiceAccount: true });

    assert.notEqual(bundle, undefined);
  });
});
