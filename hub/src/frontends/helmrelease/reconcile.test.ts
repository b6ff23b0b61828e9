import assert from "node:assert/strict";
import { type Bundle, bundles, policies } from "@flotilla/shared/api";
import { localNamespace } from "@flotilla/shared/api/names";
import {
  type HelmRelease,
  type HelmReleaseSpec,
  helmCharts,
  helmReleases,
} from "@flotilla/shared/flux";
import type { Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aPolicy, digestA, httpPin } from "../../testing/index.ts";
import { aHelmRelease, createTestReleases, type TestReleases, webChart } from "./testing/index.ts";

const namespace = "apps";
const forEveryCluster = { targets: [{ clusterSelector: {} }] };
const chartRef = { kind: "OCIRepository", name: "web" } as const;
const ociPin: Pin = {
  ...{ kind: "oci", version: "2.0.0+aaaaaaaaaaaa", repository: "oci://r.example.com/web" },
  ...{ tag: "2.0.0", manifestDigest: digestA, layerDigest: digestA, layerSizeBytes: 1, build: {} },
};

/** A change by a user: another generation. */
function change(
  releases: TestReleases,
  spec: Partial<HelmReleaseSpec>,
  annotations?: Readonly<Record<string, string>>,
): void {
  const known = releases.release();
  assert.ok(known?.spec !== undefined);
  const { chart, ...others } = known.spec;
  const isOtherChart = "chartRef" in spec;
  releases.rest.put(helmReleases, {
    ...known,
    metadata: {
      ...known.metadata,
      generation: (known.metadata.generation ?? 0) + 1,
      ...(annotations !== undefined && { annotations }),
    },
    spec: { ...others, ...(!isOtherChart && chart !== undefined && { chart }), ...spec },
  });
}

/** The HelmRelease `apps/web` of a HelmRepository, with its Bundle. */
async function deployed(
  spec: Partial<HelmReleaseSpec> = forEveryCluster,
  release?: HelmRelease,
): Promise<TestReleases> {
  const releases = createTestReleases();
  releases.putHelmRepository();
  releases.rest.put(helmReleases, release ?? aHelmRelease(spec));
  await releases.reconcile();
  releases.resolveChart();
  await releases.reconcile();
  return releases;
}

function pinOf(bundle: Bundle | undefined): Pin | undefined {
  return bundle?.spec.helmOpOptions?.pins?.[0]?.pin;
}

describe("a HelmRelease that is created", () => {
  test("gets Flux's finalizer and a HelmChart, and waits for it", async () => {
    const releases = createTestReleases();
    releases.rest.put(helmReleases, aHelmRelease(forEveryCluster));
    await releases.reconcile();

    assert.deepEqual(releases.release()?.metadata.finalizers, ["finalizers.fluxcd.io"]);
    assert.equal(releases.chart()?.spec?.chart, "web");
    assert.equal(releases.release()?.status?.helmChart, "apps/apps-web");
    assert.equal(releases.accepted(), "False SourceNotReady");
    assert.equal(releases.bundle(), undefined);
  });

  test("gets a Bundle with the pin of its chart, signed by the hub", async () => {
    const releases = await deployed();
    const bundle = releases.bundle();
    assert.ok(bundle !== undefined);
    assert.deepEqual(pinOf(bundle), httpPin("1.2.9"));
    assert.ok(releases.signer.pinsOf(bundle) !== undefined);
    assert.equal(releases.accepted(), "True Accepted");
    assert.equal(releases.release()?.status?.lastAttemptedRevision, "1.2.9");
  });

  test("is written once, however often it is reconciled", async () => {
    const releases = await deployed();
    const written = releases.rest.writes.length;
    await releases.reconcile();
    await releases.reconcile();
    assert.equal(releases.rest.writes.length, written);
  });

  test("goes on when another leader has created its HelmChart already", async () => {
    const releases = createTestReleases();
    releases.rest.put(helmReleases, aHelmRelease(forEveryCluster));
    releases.rest.beforeWrite = (write) => {
      if (write !== "create helmcharts apps/apps-web") return;
      releases.rest.beforeWrite = () => undefined;
      releases.rest.put(helmCharts, { metadata: { namespace, name: "apps-web" } });
    };
    await releases.reconcile();
    assert.equal(releases.accepted(), "False SourceNotReady");
  });

  test("leaves a HelmChart and a Bundle of somebody else as they are", async () => {
    const releases = createTestReleases();
    const chart = releases.rest.put(helmCharts, {
      metadata: { namespace, name: "apps-web", uid: "uid-x", generation: 1 },
    });
    releases.rest.put(helmReleases, aHelmRelease(forEveryCluster));
    await releases.reconcile();
    assert.equal(releases.accepted(), "False NameTaken");
    assert.deepEqual(releases.chart(), chart);

    const others = createTestReleases();
    const bundle = others.rest.put(bundles, {
      metadata: { namespace, name: "helmrelease-web", uid: "uid-y", generation: 1 },
      spec: {},
    });
    others.rest.put(helmReleases, aHelmRelease(forEveryCluster));
    await others.reconcile();
    assert.equal(others.accepted(), "False NameTaken");
    assert.deepEqual(others.bundle(), bundle);
  });

  const rejected: readonly (readonly [
    what: string,
    spec: Partial<HelmReleaseSpec>,
    reason: string,
  ])[] = [
    ["without a chart", { chart: undefined }, "Invalid"],
    [
      "with a source of another namespace",
      { chartRef: { ...chartRef, namespace: "infra" } },
      "AccessDenied",
    ],
    ["with another storageNamespace", { storageNamespace: "other" }, "Invalid"],
  ];
  test.each(rejected)("%s has no HelmChart and no Bundle", async (_, spec, reason) => {
    const releases = createTestReleases();
    releases.rest.put(helmReleases, aHelmRelease({ ...forEveryCluster, ...spec }));
    await releases.reconcile();

    assert.equal(releases.accepted(), `False ${reason}`);
    assert.deepEqual([releases.chart(), releases.bundle()], [undefined, undefined]);
  });

  test("needs an account on the hub's own cluster", async () => {
    const releases = createTestReleases({
      ...{ crossNamespaceReferences: false, requireLocalAccount: true },
    });
    releases.rest.put(helmReleases, aHelmRelease());
    await releases.reconcile();
    assert.equal(releases.accepted(), "False AccessDenied");

    change(releases, { serviceAccountName: "deployer" });
    await releases.reconcile();
    assert.equal(releases.accepted(), "False SourceNotReady");
  });

  for (const where of [namespace, localNamespace])
    test(`obeys the Policies of namespace ${where}`, async () => {
      const releases = createTestReleases();
      const policy = aPolicy("accounts", { requireServiceAccount: true });
      releases.rest.put(policies, {
        ...policy,
        metadata: { ...policy.metadata, namespace: where },
      });
      releases.putHelmRepository();
      releases.rest.put(helmReleases, aHelmRelease());
      await releases.reconcile();
      releases.resolveChart();
      await releases.reconcile();

      assert.equal(releases.accepted(), "False PolicyViolation");
      assert.equal(releases.bundle(), undefined);
    });
});

describe("a HelmRelease that is changed", () => {
  test("changes its HelmChart, and keeps its Bundle until the chart is resolved", async () => {
    const releases = await deployed();
    change(releases, { chart: { spec: { ...webChart.spec, version: "2.x" } } });
    await releases.reconcile();

    assert.equal(releases.chart()?.spec?.version, "2.x");
    assert.equal(releases.accepted(), "False SourceNotReady");
    assert.deepEqual(pinOf(releases.bundle()), httpPin("1.2.9"));

    releases.resolveChart(httpPin("2.0.0"));
    await releases.reconcile();
    assert.deepEqual(pinOf(releases.bundle()), httpPin("2.0.0"));
    assert.equal(releases.release()?.status?.lastAttemptedGeneration, 2);
  });

  test("keeps its Bundle when it becomes invalid", async () => {
    const releases = await deployed();
    const bundle = releases.bundle();
    change(releases, { storageNamespace: "other" });
    await releases.reconcile();

    assert.equal(releases.accepted(), "False Invalid");
    assert.deepEqual(releases.bundle(), bundle);
  });

  test("from chart to chartRef loses its HelmChart, and is upgraded in the same Bundle", async () => {
    const releases = await deployed();
    const before = releases.bundle();
    releases.putOciRepository(ociPin);
    change(releases, { chartRef });
    await releases.reconcile();

    assert.equal(releases.chart(), undefined);
    assert.equal(releases.release()?.status?.helmChart, undefined);
    assert.deepEqual(pinOf(releases.bundle()), ociPin);
    assert.equal(releases.bundle()?.metadata.uid, before?.metadata.uid);
    assert.equal(releases.bundle()?.spec.helm?.releaseName, before?.spec.helm?.releaseName);
  });

  test("from chartRef to chart gets a HelmChart", async () => {
    const releases = createTestReleases();
    releases.putOciRepository(ociPin);
    releases.rest.put(helmReleases, aHelmRelease({ ...forEveryCluster, chartRef }));
    await releases.reconcile();
    assert.deepEqual(pinOf(releases.bundle()), ociPin);
    assert.equal(releases.chart(), undefined);

    change(releases, { chartRef: undefined, chart: webChart });
    await releases.reconcile();
    assert.equal(releases.chart()?.spec?.chart, "web");
    assert.equal(releases.release()?.status?.helmChart, "apps/apps-web");
    assert.deepEqual(pinOf(releases.bundle()), ociPin);
  });

  test("from chart to a chartRef that is denied keeps its HelmChart, which is deleted once it is allowed", async () => {
    const releases = await deployed();
    change(releases, { chartRef: { ...chartRef, namespace: "infra" } });
    await releases.reconcile();
    assert.equal(releases.accepted(), "False AccessDenied");
    assert.ok(releases.chart() !== undefined);
    assert.equal(releases.release()?.status?.helmChart, "apps/apps-web");

    releases.putOciRepository(ociPin);
    change(releases, { chartRef });
    await releases.reconcile();
    assert.equal(releases.chart(), undefined);
  });

  test("puts back what somebody else has changed in its Bundle and its HelmChart", async () => {
    const releases = await deployed();
    const [bundle, chart] = [releases.bundle(), releases.chart()];
    assert.ok(bundle !== undefined && chart?.spec !== undefined);

    releases.rest.put(bundles, { ...bundle, spec: { ...bundle.spec, namespace: "kube-system" } });
    await releases.reconcile();
    assert.deepEqual(releases.bundle()?.spec, bundle.spec);

    releases.rest.put(helmCharts, { ...chart, spec: { ...chart.spec, version: "6.6.6" } });
    await releases.reconcile();
    assert.equal(releases.chart()?.spec?.version, "1.x");
  });

  test("creates its HelmChart again when somebody deletes it, and keeps its Bundle", async () => {
    const releases = await deployed();
    const bundle = releases.bundle();
    releases.rest.remove(helmCharts, { namespace, name: "apps-web" });
    await releases.reconcile();

    assert.ok(releases.chart() !== undefined);
    assert.deepEqual(releases.bundle(), bundle);
  });

  test("does not use an artifact that another hub has signed", async () => {
    const releases = await deployed();
    const chart = releases.chart();
    const artifact = chart?.status?.artifact;
    assert.ok(chart !== undefined && artifact !== undefined);
    const metadata = { ...artifact.metadata, "flotilla.dev/pin": JSON.stringify(httpPin("6.6.6")) };
    releases.rest.put(helmCharts, {
      ...chart,
      status: { ...chart.status, artifact: { ...artifact, metadata } },
    });
    await releases.reconcile();

    assert.equal(releases.accepted(), "False SourceNotReady");
    assert.deepEqual(pinOf(releases.bundle()), httpPin("1.2.9"));
  });
});

describe("a HelmRelease that is suspended", () => {
  test("suspends its Bundle, and nothing else of it changes", async () => {
    const releases = await deployed();
    const before = releases.bundle();
    change(releases, { suspend: true, values: { a: 1 } });
    await releases.reconcile();

    const bundle = releases.bundle();
    assert.ok(bundle !== undefined);
    assert.equal(bundle.spec.suspend, true);
    assert.deepEqual(bundle.spec.helm, before?.spec.helm);
    assert.ok(releases.signer.pinsOf(bundle) !== undefined);

    change(releases, { suspend: false });
    await releases.reconcile();
    assert.equal(releases.bundle()?.spec.suspend, undefined);
    assert.deepEqual(releases.bundle()?.spec.helm?.values, { a: 1 });
  });

  test("does not sign what somebody else has changed in its Bundle", async () => {
    const releases = await deployed();
    const bundle = releases.bundle();
    assert.ok(bundle !== undefined);
    releases.rest.put(bundles, { ...bundle, spec: { ...bundle.spec, namespace: "kube-system" } });
    change(releases, { suspend: true });
    await releases.reconcile();

    const suspended = releases.bundle();
    assert.ok(suspended !== undefined);
    assert.equal(suspended.spec.suspend, true);
    assert.equal(releases.signer.pinsOf(suspended), undefined);
  });

  test("has its generation observed and its request handled, as in Flux", async () => {
    const releases = await deployed();
    change(releases, { suspend: true }, { "reconcile.fluxcd.io/requestedAt": "one" });
    await releases.reconcile();

    const { observedGeneration, lastHandledReconcileAt, conditions } =
      releases.release()?.status ?? {};
    assert.equal(observedGeneration, 2);
    assert.equal(lastHandledReconcileAt, "one");
    assert.ok((conditions ?? []).length > 0);
  });

  test("before it was ever reconciled has no status and no HelmChart", async () => {
    const releases = createTestReleases();
    releases.rest.put(helmReleases, aHelmRelease({ suspend: true }));
    await releases.reconcile();

    assert.equal(releases.release()?.status, undefined);
    assert.deepEqual([releases.chart(), releases.bundle()], [undefined, undefined]);
  });
});
