import assert from "node:assert/strict";
import {
  type HelmChart,
  type HelmRepository,
  helmCharts,
  helmRepositories,
} from "@flotilla/shared/flux";
import {
  createTestClient,
  digestOf,
  indexText,
  type Respond,
  send,
  startTestServer,
} from "@flotilla/shared/source/testing";
import { describe, type TestContext, test } from "vitest";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { httpPin } from "../../testing/index.ts";
import { namespace, startTestSources } from "../fluxsource/testing/index.ts";
import { createHelmRepositoryController } from "../helmrepository/controller.ts";
import { pinMetadata, pinOfArtifact } from "./artifact.ts";
import { createHelmChartController } from "./controller.ts";
import { chartsOfHelmRepositories } from "./from-helm-repository.ts";
import { provenanceOfArtifact } from "./provenance.ts";

const chartDigest = "a".repeat(64);
const first = indexText({ web: [{ version: "1.0.0", digest: chartDigest }, "0.9.0"] });
const second = indexText({
  web: ["2.0.0-rc.1", "1.1.0", { version: "1.0.0", digest: chartDigest }],
});

/** Both controllers with the real client, and an HTTP server that responds by `state.respond`. */
async function setUp(t: TestContext) {
  const state: { respond: Respond } = { respond: index(first) };
  const server = await startTestServer((request, response) => state.respond(request, response));
  const client = createTestClient();
  t.onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  const sources = await startTestSources(t);
  const { deps, flux, signer, until } = sources;
  const repositories = createHelmRepositoryController({ ...deps, readIndex: client.readIndex });
  const charts = createHelmChartController({
    ...deps,
    sources: {
      HelmRepository: chartsOfHelmRepositories({
        store: flux.helmRepositories.store,
        resolver: client,
        artifacts: client.artifacts,
      }),
    },
  });
  sources.run(repositories.controller, charts.controller);
  const chart = (name = "web") => sources.get(helmCharts, name);
  const pinOf = (name = "web") => {
    const found = chart(name);
    return found && pinOfArtifact("HelmChart", found.metadata, found.status?.artifact, signer);
  };
  const provenanceOf = (name = "web") => {
    const found = chart(name);
    return (
      found && provenanceOfArtifact("HelmChart", found.metadata, found.status?.artifact, signer)
    );
  };
  return {
    ...{ ...sources, server, state, chart, pinOf, provenanceOf },
    createRepository: (spec: Partial<NonNullable<HelmRepository["spec"]>> = {}) =>
      sources.rest.put(helmRepositories, {
        metadata: { name: "charts", namespace, uid: "u-charts", generation: 1 },
        spec: { url: server.origin, interval: "1h", provider: "generic", ...spec },
      }),
    createChart: (spec: Partial<NonNullable<HelmChart["spec"]>> = {}, name = "web") =>
      sources.rest.put(helmCharts, {
        metadata: { name, namespace, uid: `u-${name}`, generation: 1 },
        spec: {
          ...{ chart: "web", version: "*", interval: "1h", reconcileStrategy: "ChartVersion" },
          ...{ sourceRef: { kind: "HelmRepository", name: "charts" }, ...spec },
        },
      }),
    condition: (type: string, name = "web") => sources.condition(helmCharts, name, type),
    /** Waits for the chart to have this version. */
    async revision(version: string, name = "web"): Promise<void> {
      await until(() => (chart(name)?.status?.artifact?.revision === version ? true : undefined));
    },
    async refreshed(value: string): Promise<void> {
      sources.request(helmRepositories, "charts", value);
      await until(() =>
        sources.get(helmRepositories, "charts")?.status?.lastHandledReconcileAt === value
          ? true
          : undefined,
      );
    },
  };
}

function index(text: string): Respond {
  return (_, response) => send(response, 200, text);
}

describe("a HelmChart of a HelmRepository", () => {
  test("is pinned to the archive of the newest version, with Flux's artifact and conditions", async (t) => {
    const { server, createRepository, createChart, revision, chart, pinOf, condition, events } =
      await setUp(t);
    createRepository();
    createChart();
    await revision("1.0.0");

    const { artifact, ...status } = chart()?.status ?? {};
    assert.deepEqual(pinOf(), {
      ...{ kind: "http", version: "1.0.0", digest: `sha256:${chartDigest}` },
      url: `${server.origin}/web-1.0.0.tgz`,
    });
    assert.equal(artifact?.digest, `sha256:${chartDigest}`);
    assert.equal(artifact.path, "helmchart/apps/web/web-1.0.0.tgz");
    assert.equal(status.observedChartName, "web");
    assert.equal(status.observedSourceArtifactRevision, digestOf(first));
    assert.equal(condition("Ready")?.reason, "ChartPullSucceeded");
    assert.equal(condition("Ready")?.message, "pulled 'web' chart with version '1.0.0'");
    assert.equal(condition("ArtifactInStorage")?.reason, "ChartPullSucceeded");
    assert.ok(events.includes("Normal ChartPullSucceeded"));
  });

  test("shares one request of the index with all charts of the HelmRepository", async (t) => {
    const { server, createRepository, createChart, revision } = await setUp(t);
    createRepository();
    const names = Array.from({ length: 50 }, (_, at) => `web-${at}`);
    for (const name of names) createChart({}, name);

    await Promise.all(names.map((name) => revision("1.0.0", name)));
    assert.deepEqual(server.paths(), ["/index.yaml"]);
  });

  test("follows the index within its constraint, without a request of its own", async (t) => {
    const { server, state, createRepository, createChart, revision, refreshed, chart, until } =
      await setUp(t);
    createRepository();
    createChart();
    createChart({ version: "1.0.x" }, "fixed");
    createChart({ version: ">=1.0.0-0" }, "newest");
    await Promise.all(["web", "fixed", "newest"].map((name) => revision("1.0.0", name)));

    state.respond = index(second);
    await refreshed("one");
    await Promise.all([revision("1.1.0"), revision("2.0.0-rc.1", "newest")]);
    await until(() =>
      chart("fixed")?.status?.observedSourceArtifactRevision === digestOf(second)
        ? true
        : undefined,
    );
    assert.equal(chart("fixed")?.status?.artifact?.revision, "1.0.0");
    assert.deepEqual(server.paths(), ["/index.yaml", "/index.yaml"]);
  });

  const missing: readonly (readonly [
    what: string,
    Partial<NonNullable<HelmChart["spec"]>>,
    RegExp,
  ])[] = [
    ["a chart that the index does not have", { chart: "db" }, /db/],
    ["a version that the index does not have", { version: "3.0.0" }, /3\.0\.0/],
    ["an invalid version", { version: ">>1" }, />>1/],
  ];
  for (const [what, spec, message] of missing)
    test(`with ${what} is Stalled`, async (t) => {
      const { createRepository, createChart, condition, chart, until } = await setUp(t);
      createRepository();
      createChart(spec);

      const stalled = await until(() => condition("Stalled"));
      assert.equal(stalled.reason, "InvalidChartReference");
      assert.match(stalled.message ?? "", message);
      assert.equal(condition("FetchFailed")?.reason, "InvalidChartReference");
      assert.equal(chart()?.status?.polling?.nextAttemptTime, undefined);
    });

  test("that is Stalled is resolved when the index changes", async (t) => {
    const { state, createRepository, createChart, condition, revision, refreshed, until } =
      await setUp(t);
    createRepository();
    createChart({ version: "1.1.0" });
    await until(() => condition("Stalled"));

    state.respond = index(second);
    await refreshed("one");
    await revision("1.1.0");
    assert.equal(condition("Stalled"), undefined);
  });

  test("waits for a HelmRepository that does not exist, and continues as soon as it does", async (t) => {
    const { createRepository, createChart, condition, revision, until } = await setUp(t);
    createChart();

    const failed = await until(() => condition("FetchFailed"));
    assert.equal(failed.reason, "SourceUnavailable");
    assert.match(failed.message ?? "", /^there is no HelmRepository apps\/charts; continuing as/);
    assert.equal(condition("Stalled"), undefined);

    createRepository();
    await revision("1.0.0");
  });

  test("waits for a HelmRepository without an artifact, and continues as soon as it has one", async (t) => {
    const { state, createRepository, createChart, condition, revision, refreshed, until } =
      await setUp(t);
    state.respond = (_, response) => send(response, 503, "");
    createRepository();
    createChart();
    await until(() => (condition("FetchFailed")?.reason === "NoSourceArtifact" ? true : undefined));

    state.respond = index(first);
    await refreshed("one");
    await revision("1.0.0");
  });

  test("keeps its artifact and stays Ready while its HelmRepository cannot be read", async (t) => {
    const { state, createRepository, createChart, condition, revision, refreshed, events } =
      await setUp(t);
    createRepository();
    createChart();
    await revision("1.0.0");

    state.respond = (_, response) => send(response, 503, "");
    await refreshed("one");
    assert.equal(condition("Ready")?.status, "True");
    assert.deepEqual(
      events.filter((event) => event.startsWith("Warning")),
      ["Warning Failed"],
    );
  });

  const changes: readonly (readonly [
    what: string,
    Partial<NonNullable<HelmRepository["spec"]>>,
  ])[] = [
    ["is suspended", { suspend: true }],
    ["has another interval", { interval: "2h" }],
    ["has another address that does not respond", { url: "http://127.0.0.1:1" }],
  ];
  for (const [what, spec] of changes)
    test(`stays Ready, without an event, when its HelmRepository ${what}`, async (t) => {
      const { createRepository, createChart, change, revision, get, until, chart, events } =
        await setUp(t);
      createRepository();
      createChart();
      await revision("1.0.0");
      const { conditions } = chart()?.status ?? {};

      change(helmRepositories, "charts", { spec });
      await until(() => {
        const { observedGeneration, polling } = get(helmRepositories, "charts")?.status ?? {};
        return observedGeneration === 2 || (polling?.failures ?? 0) > 0 ? true : undefined;
      });
      let polls = 0;
      await until(() => (++polls > 20 ? true : undefined));

      assert.deepEqual(chart()?.status?.conditions, conditions);
      const warnings = events.filter((event) => event.startsWith("Warning"));
      assert.deepEqual(new Set(warnings).size, spec.url === undefined ? 0 : 1);
    });

  test("keeps where it was found while it is suspended, whatever its source and itself say by then", async (t) => {
    const { server, createRepository, createChart, change, ...test } = await setUp(t);
    createRepository();
    createChart();
    await test.revision("1.0.0");
    const found = [{ repository: server.origin, chart: "web" }];
    assert.deepEqual(test.provenanceOf(), found);

    change(helmCharts, "web", { spec: { chart: "other", suspend: true } });
    change(helmRepositories, "charts", { spec: { url: "https://listed.example", suspend: true } });
    await test.until(() => test.chart()?.status?.observedGeneration === 2 || undefined);

    assert.deepEqual(test.provenanceOf(), found);
  });

  test("of an earlier version, which has not written down where it was found, is resolved again", async (t) => {
    const { createRepository, createChart, change, signer, ...test } = await setUp(t);
    createRepository();
    const { metadata } = createChart();
    await test.revision("1.0.0");
    const { artifact, ...status } = test.chart()?.status ?? {};
    const pin = test.pinOf();
    assert.ok(artifact !== undefined && pin !== undefined);

    const earlier = { ...artifact, metadata: pinMetadata("HelmChart", metadata, pin, signer) };
    change(helmCharts, "web", { status: { ...status, artifact: earlier } });

    await test.until(() => test.provenanceOf()?.[0]?.repository);
    assert.deepEqual(test.pinOf(), pin);
  });

  test("with values files has its generation in the version, and is packaged", async (t) => {
    const { createRepository, createChart, change, revision, pinOf, condition } = await setUp(t);
    createRepository();
    createChart({ valuesFiles: ["prod.yaml"], ignoreMissingValuesFiles: true });
    createChart({ valuesFiles: ["values.yaml"] }, "plain");
    await revision("1.0.0+1");
    await revision("1.0.0", "plain");

    const pin = pinOf();
    assert.deepEqual(pin?.kind === "http" && pin.build, {
      ...{ valuesFiles: ["prod.yaml"], ignoreMissingValuesFiles: true },
    });
    assert.equal(condition("Ready")?.reason, "ChartPackageSucceeded");

    change(helmCharts, "web", { spec: { valuesFiles: ["dev.yaml"] } });
    await revision("1.0.0+2");
  });

  test("with spec.verify of an HTTP repository is Stalled", async (t) => {
    const { createRepository, createChart, condition, until } = await setUp(t);
    createRepository();
    createChart({ verify: { provider: "cosign", secretRef: { name: "keys" } } });

    const stalled = await until(() => condition("Stalled"));
    assert.equal(stalled.reason, "ChartVerificationError");
    assert.equal(condition("BuildFailed")?.reason, "ChartVerificationError");
    assert.equal(condition("SourceVerified")?.status, "False");
  });

  test("without a spec is Stalled", async (t) => {
    const { rest, condition, until } = await setUp(t);
    rest.put(helmCharts, { metadata: { name: "web", namespace, generation: 1 } });
    assert.match((await until(() => condition("Stalled"))).message ?? "", /has no spec/);
  });
});

test("an artifact that another hub has signed is not used, and the chart is resolved again", async (t) => {
  const { createRepository, createChart, change, chart, revision, pinOf, until } = await setUp(t);
  createRepository();
  createChart();
  await revision("1.0.0");
  const status = chart()?.status;
  const artifact = status?.artifact;
  assert.ok(artifact !== undefined);

  const forger = createPinSigner(Buffer.from("another key"));
  const metadata = pinMetadata(
    "HelmChart",
    chart()?.metadata ?? { name: "" },
    httpPin("6.6.6"),
    forger,
  );
  change(helmCharts, "web", {
    status: { ...status, artifact: { ...artifact, revision: "6.6.6", metadata } },
  });
  assert.equal(pinOf(), undefined);

  change(helmCharts, "web", { annotations: { note: "a" } });
  await until(pinOf);
  await revision("1.0.0");
});

describe("a HelmChart of a registry", () => {
  test("is not requested again before the time in Retry-After", async (t) => {
    const { server, state, createRepository, createChart, chart, condition, until } =
      await setUp(t);
    state.respond = (_, response) => send(response, 429, "", { "retry-after": "3600" });
    createRepository({ type: "oci", url: `oci://${server.host}/charts`, insecure: true });
    createChart();

    const next = await until(() => chart()?.status?.polling?.nextAttemptTime);
    assert.equal(condition("FetchFailed")?.reason, "ChartPullError");
    assert.ok(Date.parse(next) > Date.now() + 3_500_000, next);
  });

  test("that it does not have is retried with backoff, and not Stalled", async (t) => {
    const { server, state, createRepository, createChart, chart, condition, until } =
      await setUp(t);
    state.respond = (_, response) => send(response, 404, '{"errors":[{"code":"NAME_UNKNOWN"}]}');
    createRepository({ type: "oci", url: `oci://${server.host}/charts`, insecure: true });
    createChart();

    const failed = await until(() => condition("FetchFailed"));
    assert.equal(failed.reason, "ChartPullError");
    assert.equal(condition("Stalled"), undefined);
    assert.ok(chart()?.status?.polling?.nextAttemptTime !== undefined);
  });
});
