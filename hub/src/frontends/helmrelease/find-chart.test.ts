import assert from "node:assert/strict";
import type {
  Bucket,
  GitRepository,
  HelmChart,
  HelmRepository,
  OCIRepository,
} from "@flotilla/shared/flux";
import type { Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import type { SourceArtifact } from "../../sources/fluxsource/source-status.ts";
import { chartArtifact, pinMetadata, problemMetadata } from "../../sources/helmchart/artifact.ts";
import { createWatchedStore, now } from "../../testing/index.ts";
import { findChart } from "./find-chart.ts";
import { aHelmRelease } from "./testing/index.ts";

const signer = createPinSigner(Buffer.from("the key of this hub"));
const digest = `sha256:${"a".repeat(64)}`;
const gitPin: Pin = {
  ...{ kind: "git", url: "https://git.example.com/apps", commit: "b".repeat(40) },
  ...{ version: "1.0.0", path: "charts/web", build: {} },
};
const ociPin: Pin = {
  ...{ kind: "oci", version: "1.0.0+aaaaaaaaaaaa", repository: "oci://r.example.com/web" },
  ...{ tag: "1.0.0", manifestDigest: digest, layerDigest: digest, layerSizeBytes: 1, build: {} },
};
const fields = { url: "", path: "", lastUpdateTime: now, revision: "1.0.0", digest };
const generated = {
  ...{ namespace: "apps", name: "apps-web", uid: "uid-chart", generation: 1 },
  labels: {
    "helm.toolkit.fluxcd.io/name": "web",
    "helm.toolkit.fluxcd.io/namespace": "apps",
  },
};

function setUp() {
  const flux = {
    helmRepositories: createWatchedStore<HelmRepository>(),
    ociRepositories: createWatchedStore<OCIRepository>(),
    gitRepositories: createWatchedStore<GitRepository>(),
    buckets: createWatchedStore<Bucket>(),
    helmCharts: createWatchedStore<HelmChart>(),
  };
  const repository = (name: string, url: string, spec: Partial<HelmRepository["spec"]> = {}) =>
    flux.helmRepositories.saw({
      metadata: { namespace: "apps", name },
      spec: { url, provider: "generic", ...spec },
    });
  const ociRepository = (artifact: SourceArtifact | undefined) =>
    flux.ociRepositories.saw({
      metadata: { namespace: "apps", name: "web", uid: "uid-oci", generation: 1 },
      spec: { url: "oci://r.example.com/web", interval: "1h", timeout: "60s", provider: "generic" },
      status: { observedGeneration: 1, ...(artifact && { artifact }) },
    });
  const chart = (artifact: SourceArtifact) =>
    flux.helmCharts.saw({
      metadata: generated,
      spec: {
        ...{ chart: "charts/web", version: "*", interval: "1h" },
        ...{ sourceRef: { kind: "GitRepository", name: "git" }, reconcileStrategy: "Revision" },
      },
      status: { observedGeneration: 1, artifact },
    });
  flux.gitRepositories.saw({
    metadata: { namespace: "apps", name: "git" },
    spec: { url: "https://git.example.com/apps", interval: "1h", timeout: "60s" },
  });
  return { flux, repository, ociRepository, chart };
}

const fromOci = aHelmRelease({ chartRef: { kind: "OCIRepository", name: "web" } });

describe("the chart of an OCIRepository", () => {
  const metadata = { namespace: "apps", name: "web", uid: "uid-oci" };
  const rows: readonly (readonly [
    what: string,
    artifact: SourceArtifact | undefined,
    reason: string | undefined,
    message: RegExp,
  ])[] = [
    [
      "is found by its signed pin",
      { ...fields, metadata: pinMetadata("OCIRepository", metadata, ociPin, signer) },
      undefined,
      /^$/,
    ],
    ["is missing with SourceNotReady before it was read", undefined, "SourceNotReady", /not ready/],
    [
      "is missing with ChartMutateError when its tag is another version than Chart.yaml",
      {
        ...fields,
        metadata: problemMetadata({ reason: "ChartMutateError", message: "2.0.0 is not 1.0.0" }),
      },
      "ChartMutateError",
      /^OCIRepository 'apps\/web' has no chart to install: 2.0.0 is not 1.0.0$/,
    ],
    [
      "is missing with ArtifactFailed when it is not a chart",
      {
        ...fields,
        metadata: problemMetadata({ reason: "ArtifactFailed", message: "not a Helm chart" }),
      },
      "ArtifactFailed",
      /not a Helm chart$/,
    ],
    [
      "is missing with SourceNotReady when its status was written by others",
      fields,
      "SourceNotReady",
      /was not written by this hub/,
    ],
  ];
  test.each(rows)("%s", (_, artifact, reason, message) => {
    const { flux, ociRepository } = setUp();
    ociRepository(artifact);
    const found = findChart({ flux, signer }, fromOci);
    assert.equal("reason" in found ? found.reason : undefined, reason);
    assert.match("reason" in found ? found.message : "", message);
  });
});

describe("the dependencies of a chart from Git are accessed", () => {
  const address = "https://deps.example.com/charts";
  const release = aHelmRelease({
    chart: {
      spec: {
        ...{ chart: "charts/web", version: "*", reconcileStrategy: "Revision" },
        sourceRef: { kind: "GitRepository", name: "git" },
      },
    },
  });
  const resolved = { name: "web", pin: gitPin, digest, url: "", dependencies: [address] };
  const artifact = {
    ...chartArtifact({ metadata: generated }, resolved, signer),
    lastUpdateTime: now,
  };

  function dependenciesWith(prepare: (given: ReturnType<typeof setUp>) => void, read = artifact) {
    const given = setUp();
    given.chart(read);
    prepare(given);
    const found = findChart({ flux: given.flux, signer }, release);
    assert.ok(!("reason" in found), "reason" in found ? found.message : "");
    assert.deepEqual(found.repositories, read === artifact ? [address] : []);
    return found.dependencies;
  }

  test("with the Secrets of the HelmRepository of the same address, and of no other", () => {
    const dependencies = dependenciesWith(({ repository }) => {
      repository("others", "https://others.example.com", { secretRef: { name: "others" } });
      repository("deps", `${address}/`, {
        ...{ secretRef: { name: "login" }, certSecretRef: { name: "tls" }, passCredentials: true },
      });
    });
    assert.deepEqual(dependencies, [
      {
        ...{ kind: "HelmRepository", url: `${address}/` },
        ...{ secret: "apps/login", certSecret: "apps/tls", passCredentials: true },
      },
    ]);
  });

  test("without credentials where no HelmRepository has the address", () =>
    assert.deepEqual(
      dependenciesWith(() => undefined),
      [],
    ));

  test("without credentials of HelmRepositories in other namespaces", () =>
    assert.deepEqual(
      dependenciesWith(({ flux }) =>
        flux.helmRepositories.saw({
          metadata: { namespace: "others", name: "deps" },
          spec: { url: address, provider: "generic", secretRef: { name: "login" } },
        }),
      ),
      [],
    ));

  test("without credentials where somebody else wrote the addresses", () => {
    const { "flotilla.dev/dependencies-signature": _, ...unsigned } = artifact.metadata ?? {};
    const forged = { ...unsigned, "flotilla.dev/dependencies-signature": "forged" };
    const read = { ...artifact, metadata: forged };
    assert.deepEqual(
      dependenciesWith(
        ({ repository }) => repository("deps", address, { secretRef: { name: "login" } }),
        read,
      ),
      [],
    );
  });
});
