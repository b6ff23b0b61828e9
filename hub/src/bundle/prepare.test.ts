import assert from "node:assert/strict";
import type { Bundle, BundleDeployment, HelmOp, Policy } from "@flotilla/shared/api";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { createStore } from "@flotilla/shared/kube/cache";
import { aContext } from "@flotilla/shared/kube/testing";
import { chartErrors } from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createPatterns } from "../policy/index.ts";
import { createChartResolver, createPinSigner } from "../resolve/index.ts";
import { chartNotFetched } from "../summary/index.ts";
import { aBundle, aDeployment, aHelmOp, aPolicy, digestB, httpPin } from "../testing/index.ts";
import { resolvedStatus } from "./decided-status.ts";
import { bundlePreparer, type Prepared } from "./prepare.ts";

const repo = "https://charts.example.com";
const helm = { repo, chart: "web", version: "~1.2" };
const pins = [{ ...helm, pin: httpPin("1.2.9") }];
const targets = [{ name: "all", clusterSelector: {} }];

/** A Bundle that nobody has a HelmOp for. */
function direct(spec: Bundle["spec"] = {}, status?: Bundle["status"]): Bundle {
  return aBundle({ helm, targets, ...spec }, { labels: {} }, status);
}

const signer = createPinSigner(Buffer.from("seal"));

/** What is there around a Bundle. `answers`: what the repository says, one after the other. */
function world({
  policies = [],
  helmOps = [],
  answers = [],
}: {
  readonly policies?: readonly Policy[];
  readonly helmOps?: readonly HelmOp[];
  readonly answers?: readonly (string | Error)[];
}) {
  const asked: string[] = [];
  const resolver: Resolver = {
    resolve(_source, version) {
      const answer = answers[asked.length];
      asked.push(version);
      return typeof answer === "string"
        ? Promise.resolve({ pin: httpPin(answer), problems: [] })
        : Promise.reject(answer ?? new Error(`nobody should ask for ${version}`));
    },
  };
  const policyStore = createStore<Policy>();
  for (const policy of policies) policyStore.set(policy);
  const helmOpStore = createStore<HelmOp>();
  for (const helmOp of helmOps) helmOpStore.set(helmOp);
  const clock = createFakeClock();
  const deployments = createStore<BundleDeployment>();
  const prepareBundle = bundlePreparer({
    helmOps: helmOpStore,
    policies: policyStore,
    patterns: createPatterns(),
    access: {
      of: () => Promise.resolve({ settingsFor: () => ({}), version: "" }),
      keysUsing: () => [],
      forget: () => undefined,
    },
    charts: createChartResolver({ resolver, deployments, clock, hubId: "hub" }),
    signer,
  });
  return {
    asked,
    clock,
    policyStore,
    /** An agent cannot fetch what is pinned. */
    failFetch: () =>
      void deployments.set(
        aDeployment("paris", {
          status: {
            conditions: [
              {
                type: "Deployed",
                status: "False",
                reason: chartNotFetched,
                observedGeneration: 1,
              },
            ],
          },
        }),
      ),
    prepare: (bundle: Bundle) => prepareBundle(bundle, bundle.status, aContext()),
  };
}

/** The Bundle with the state that its preparation left. */
function after(bundle: Bundle, prepared: Prepared): Bundle {
  assert.ok("resolution" in prepared);
  return { ...bundle, status: resolvedStatus(bundle.status, prepared.resolution) };
}

describe("a Bundle that was applied by hand", () => {
  test("is resolved, and deployed once its pins are stored", async () => {
    const { prepare, asked } = world({ answers: ["1.2.9"] });

    const resolved = await prepare(direct());
    assert.equal(resolved.kind, "resolved");
    const stored = after(direct(), resolved);
    assert.deepEqual(stored.status?.pins, pins);

    const prepared = await prepare(stored);
    assert.equal(prepared.kind, "deployable");
    assert.equal(prepared.spec.helm?.version, "1.2.9");
    assert.deepEqual(asked, ["~1.2"]);
  });

  test("results in the identical spec each time, so that it is packed once", async () => {
    const { prepare } = world({});
    const bundle = direct({}, { pins, resolution: { observedGeneration: 1 } });

    const [first, second] = [await prepare(bundle), await prepare(bundle)];

    assert.ok(first.kind === "deployable" && second.kind === "deployable");
    assert.equal(first.spec, second.spec);
  });

  test("is resolved again when its chart reference changes", async () => {
    const { prepare, asked } = world({ answers: ["1.3.0"] });
    const bundle = direct({ helm: { ...helm, version: "~1.3" } }, { pins });

    const changed = after(bundle, await prepare(bundle));

    assert.deepEqual(changed.status?.pins, [{ ...helm, version: "~1.3", pin: httpPin("1.3.0") }]);
    assert.deepEqual(asked, ["~1.3"]);
  });

  test("does not use pins that its author writes", async () => {
    const { prepare } = world({ answers: ["1.2.9"] });
    const forged = [{ ...helm, pin: httpPin("6.6.6", digestB) }];
    const bundle = direct({ helmOpOptions: { pins: forged } });

    assert.deepEqual(after(bundle, await prepare(bundle)).status?.pins, pins);
  });

  test("is nobody else's because of the label of a HelmOp", async () => {
    const { prepare } = world({ answers: ["1.2.9"] });

    assert.equal((await prepare(aBundle({ helm, targets }))).kind, "resolved");
  });

  test("that cannot be resolved is held and retried, each time later, and not before", async () => {
    const away = new AppError(chartErrors.INDEX_FETCH, "get the index: refused");
    const { prepare, clock, asked } = world({ answers: [away, away, "1.2.9"] });
    let bundle = direct();

    for (const delayMs of [1_000, 2_000]) {
      const count = asked.length + 1;
      const held = await prepare(bundle);
      assert.ok(held.kind === "held");
      assert.equal(held.accepted.reason, "ChartNotResolved");
      assert.match(
        held.accepted.message,
        /^get the index: refused; retrying at 2026-01-01T00:00:0/,
      );
      assert.equal(held.nextAtMs, clock.now() + delayMs);
      bundle = after(bundle, held);
      assert.equal((await prepare(bundle)).kind, "held");
      assert.equal(asked.length, count);
      await clock.advance(delayMs);
    }
    const resolved = await prepare(bundle);
    assert.equal(resolved.kind, "resolved");
    assert.equal(after(bundle, resolved).status?.resolution?.error, undefined);
  });

  test("that asks for what does not exist is held until it changes", async () => {
    const wrong = new AppError(chartErrors.CHART_VERSION_NOT_FOUND, "no such version", {
      retryable: false,
    });
    const { prepare } = world({ answers: [wrong] });

    const held = await prepare(direct());

    assert.ok(held.kind === "held");
    assert.equal(held.accepted.message, "no such version");
    assert.equal(held.nextAtMs, undefined);
  });

  test("keeps its pin while that cannot be looked up again, and says so", async () => {
    const away = new AppError(chartErrors.INDEX_FETCH, "get the index: refused");
    const { prepare, failFetch, asked, clock } = world({ answers: [away] });
    failFetch();

    const prepared = await prepare(direct({}, { pins, resolution: { observedGeneration: 1 } }));

    assert.ok(prepared.kind === "deployable");
    assert.deepEqual(prepared.remarks, ["get the index: refused"]);
    assert.equal(prepared.resolution?.state.pinCheck?.count, 1);
    assert.equal(prepared.nextAtMs, clock.now() + 4_000);
    assert.deepEqual(asked, ["1.2.9"]);
  });

  const requested = (bundle: Bundle): Bundle => ({
    ...bundle,
    metadata: { ...bundle.metadata, annotations: { [reconcileRequestAnnotation]: "now" } },
  });

  test("is resolved again on request, once for each value, and what is found is pinned", async () => {
    const { prepare, asked } = world({ answers: ["1.2.4"] });
    const bundle = requested(direct({}, { pins, resolution: { observedGeneration: 1 } }));

    const handled = after(bundle, await prepare(bundle));
    assert.deepEqual(handled.status?.pins, [{ ...helm, pin: httpPin("1.2.4") }]);
    assert.equal(handled.status.lastHandledReconcileAt, "now");

    assert.equal((await prepare(handled)).kind, "deployable");
    assert.deepEqual(asked, ["~1.2"]);
  });

  test("whose request fails keeps what it has, says so, and is retried until it succeeds", async () => {
    const away = new AppError(chartErrors.INDEX_FETCH, "get the index: refused");
    const { prepare, asked, clock } = world({ answers: [away, away, "1.2.4"] });
    let bundle = requested(direct({}, { pins, resolution: { observedGeneration: 1 } }));

    for (const delayMs of [1_000, 2_000]) {
      const prepared = await prepare(bundle);
      assert.ok(prepared.kind === "deployable");
      assert.match(prepared.remarks[0] ?? "", /^get the index: refused; retrying at /);
      assert.equal(prepared.nextAtMs, clock.now() + delayMs);
      bundle = after(bundle, prepared);
      assert.equal(bundle.status?.resolution?.requestFailed, true);
      await clock.advance(delayMs);
    }
    const resolved = await prepare(bundle);
    assert.equal(resolved.kind, "resolved");
    assert.equal(after(bundle, resolved).status?.resolution?.requestFailed, undefined);
    assert.deepEqual(asked, ["~1.2", "~1.2", "~1.2"]);
  });

  test("with files from Git is held, and its source is not asked", async () => {
    const { prepare, asked } = world({});
    const bundle = direct({ resources: [{ name: "a" }] }, { pins });

    const held = await prepare(bundle);

    assert.ok(held.kind === "held");
    assert.equal(held.error?.code, "BUNDLE_NOT_DEPLOYABLE");
    assert.deepEqual(after(bundle, held).status?.pins, pins);
    assert.deepEqual(asked, []);
  });

  test("reports fields that have no effect", async () => {
    const { prepare } = world({});
    const spec = { helm: { ...helm, vesion: "1" }, correctDrift: { enabled: true } };

    const prepared = await prepare(direct(spec, { pins, resolution: { observedGeneration: 1 } }));

    assert.ok(prepared.kind === "deployable");
    assert.deepEqual(prepared.remarks, [
      "unknown field spec.helm.vesion has no effect, did you mean spec.helm.version?",
      "spec.correctDrift has no effect in this version of Flotilla",
    ]);
  });
});

describe("a Policy", () => {
  const noEvil = aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: ["https://good/.*"] } });

  test("holds a Bundle that violates it, before any repository is asked, and lets it go on", async () => {
    const { prepare, asked, policyStore } = world({ policies: [noEvil], answers: ["1.2.9"] });

    const held = await prepare(direct());
    assert.ok(held.kind === "held");
    assert.equal(held.error?.code, "POLICY_VIOLATION");
    assert.deepEqual(asked, []);

    policyStore.remove(noEvil);
    assert.equal((await prepare(direct())).kind, "resolved");
  });

  test("holds a HelmOp's Bundle too", async () => {
    const { prepare } = world({ policies: [noEvil], helmOps: [aHelmOp()] });
    const bundle = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    assert.equal((await prepare(bundle)).kind, "held");
  });

  test("gives defaults to HelmOps: their Bundle waits to be written anew, another one is held", async () => {
    const policies = [
      aPolicy("guard", {
        requireServiceAccount: true,
        helmOp: { defaultServiceAccount: "deployer" },
      }),
    ];
    const bundle = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    const ofHelmOp = world({ policies, helmOps: [aHelmOp()] });
    assert.deepEqual(await ofHelmOp.prepare(bundle), { kind: "waiting" });
    assert.equal((await world({ policies }).prepare(direct())).kind, "held");
  });

  test("that requires a ServiceAccount keeps namespaces from being made, whatever targets say", async () => {
    const policies = [aPolicy("guard", { requireServiceAccount: true })];
    const { prepare } = world({ policies, helmOps: [aHelmOp()] });
    const bundle = signer.signed(
      aBundle({
        helm,
        serviceAccount: "deployer",
        targets: [{ clusterSelector: {}, createNamespace: true }],
        helmOpOptions: { pins },
      }),
    );

    const prepared = await prepare(bundle);

    assert.ok(prepared.kind === "deployable");
    assert.equal(prepared.spec.createNamespace, false);
    assert.equal(prepared.spec.targets?.[0]?.createNamespace, false);
    assert.equal(bundle.spec.createNamespace, undefined);
  });

  test("that has nothing against a HelmOp's Bundle leaves it as it is", async () => {
    const { prepare } = world({ helmOps: [aHelmOp()] });
    const bundle = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    const prepared = await prepare(bundle);

    assert.ok(prepared.kind === "deployable");
    assert.equal(prepared.spec, bundle.spec);
  });

  test("has a HelmOp's Bundle wait in which somebody wrote pins, until the HelmOp's loop writes it anew", async () => {
    const { prepare } = world({ helmOps: [aHelmOp()] });
    const sealed = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));
    const forged = aBundle({
      ...sealed.spec,
      helmOpOptions: { ...sealed.spec.helmOpOptions, pins: [{ ...helm, pin: httpPin("9.9.9") }] },
    });

    assert.deepEqual(await prepare(forged), { kind: "waiting" });
  });
});
