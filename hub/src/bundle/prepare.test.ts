import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { createStore } from "@flotilla/shared/kube/cache/store.ts";
import type { Resolver } from "@flotilla/shared/source/client/source-client.ts";
import { chartErrors } from "@flotilla/shared/source/errors.ts";
import { describe, test } from "vitest";
import { createPatterns } from "../policy/patterns.ts";
import { createPinSeals } from "../resolve/pin-signature.ts";
import { aBundle, aHelmOp, aPolicy, digestB, httpPin } from "../testing/objects.ts";
import { bundlePreparer } from "./prepare.ts";
import { createBundleResolver } from "./resolve-bundle.ts";

const { signal } = new AbortController();
const repo = "https://charts.example.com";
const helm = { repo, chart: "web", version: "~1.2" };
const pins = [{ ...helm, pin: httpPin("1.2.9") }];
const none = { pins: [], handled: undefined };
const kept = { pins, handled: undefined };
const targets = [{ name: "all", clusterSelector: {} }];

/** A Bundle that nobody has a HelmOp for. */
function direct(spec: Bundle["spec"] = {}, status?: Bundle["status"]): Bundle {
  return aBundle({ helm, targets, ...spec }, { labels: {} }, status);
}

const seals = createPinSeals(Buffer.from("seal"));

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
  let isDoubted = false;
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
  const charts = createBundleResolver({
    resolver,
    access: {
      of: () => Promise.resolve({ settingsFor: () => ({}), hasChanged: false }),
      users: () => [],
      forget: () => undefined,
    },
    doubts: {
      raise: () => (isDoubted = true),
      take: () => {
        const was = isDoubted;
        isDoubted = false;
        return was;
      },
      forget: () => undefined,
    },
    deploymentsOf: () => [],
  });
  return {
    asked,
    policyStore,
    doubt: () => {
      isDoubted = true;
    },
    prepare: bundlePreparer({
      helmOps: helmOpStore,
      policies: policyStore,
      patterns: createPatterns(),
      charts,
      seals,
    }),
  };
}

describe("a Bundle that somebody applied", () => {
  test("is resolved, and waits until what it came to is kept", async () => {
    const { prepare, asked } = world({ answers: ["1.2.9"] });

    assert.deepEqual(await prepare(direct(), none, signal), {
      kind: "waiting",
      pins,
      handled: undefined,
      remarks: [],
    });

    const prepared = await prepare(direct({}, { pins }), kept, signal);
    assert.equal(prepared.kind, "deployable");
    assert.equal(prepared.spec.helm?.version, "1.2.9");
    assert.deepEqual(prepared.pins, pins);
    assert.deepEqual(asked, ["~1.2"]);
  });

  test("comes to the very same spec each time, so that it is packed once", async () => {
    const { prepare } = world({});
    const bundle = direct({}, { pins });

    const [first, second] = [
      await prepare(bundle, kept, signal),
      await prepare(bundle, kept, signal),
    ];

    assert.ok(first.kind === "deployable" && second.kind === "deployable");
    assert.equal(first.spec, second.spec);
  });

  test("is resolved anew when it asks for something else", async () => {
    const { prepare, asked } = world({ answers: ["1.3.0"] });

    const prepared = await prepare(
      direct({ helm: { ...helm, version: "~1.3" } }, { pins }),
      kept,
      signal,
    );

    assert.deepEqual(prepared.pins, [{ ...helm, version: "~1.3", pin: httpPin("1.3.0") }]);
    assert.deepEqual(asked, ["~1.3"]);
  });

  test("does not believe the pins that its author writes", async () => {
    const { prepare } = world({ answers: ["1.2.9"] });
    const forged = [{ ...helm, pin: httpPin("6.6.6", digestB) }];

    const prepared = await prepare(direct({ helmOpOptions: { pins: forged } }), none, signal);

    assert.deepEqual(prepared.pins, pins);
  });

  test("with a label that makes it look like a HelmOp's is nobody's but its author's", async () => {
    const { prepare } = world({ answers: ["1.2.9"] });

    assert.equal((await prepare(aBundle({ helm, targets }), none, signal)).kind, "waiting");
  });

  test("that cannot be resolved is held and tried again, each time after a longer while", async () => {
    const away = new AppError(chartErrors.INDEX_FETCH, "get the index: refused");
    const { prepare } = world({ answers: [away, away, "1.2.9", away] });

    const held = { kind: "held", error: away, pins: [], handled: undefined, remarks: [] };
    assert.deepEqual(await prepare(direct(), none, signal), { ...held, retryMs: 1_000 });
    assert.deepEqual(await prepare(direct(), none, signal), { ...held, retryMs: 2_000 });
    assert.equal((await prepare(direct(), none, signal)).kind, "waiting");
    assert.deepEqual(await prepare(direct(), none, signal), { ...held, retryMs: 1_000 });
  });

  test("that asks for what there is not is held until it changes", async () => {
    const wrong = new AppError(chartErrors.CHART_VERSION_NOT_FOUND, "no such version", {
      retryable: false,
    });
    const { prepare } = world({ answers: [wrong] });

    assert.deepEqual(await prepare(direct(), none, signal), {
      kind: "held",
      error: wrong,
      pins: [],
      handled: undefined,
      remarks: [],
    });
  });

  test("keeps what it came to while its pin is looked up once more in vain", async () => {
    const away = new AppError(chartErrors.INDEX_FETCH, "get the index: refused");
    const { prepare, doubt, asked } = world({ answers: [away] });
    doubt();

    const prepared = await prepare(direct({}, { pins }), kept, signal);

    assert.equal(prepared.kind, "deployable");
    assert.deepEqual(prepared.remarks, ["get the index: refused"]);
    assert.deepEqual(asked, ["1.2.9"]);
  });

  test("is read anew when somebody asks, once for each time, and what is found is followed", async () => {
    const { prepare, asked } = world({ answers: ["1.2.4"] });
    const bundle = direct({}, { pins });
    const annotated = {
      ...bundle,
      metadata: { ...bundle.metadata, annotations: { [reconcileRequestAnnotation]: "now" } },
    };

    const prepared = await prepare(annotated, kept, signal);
    assert.deepEqual(prepared.pins, [{ ...helm, pin: httpPin("1.2.4") }]);
    assert.equal(prepared.handled, "now");

    await prepare(annotated, { pins: prepared.pins ?? [], handled: "now" }, signal);
    assert.deepEqual(asked, ["~1.2"]);
  });

  test("that is to be read anew in vain goes on with what it has, says so, and is read again until it could be", async () => {
    const away = new AppError(chartErrors.INDEX_FETCH, "get the index: refused");
    const { prepare, asked } = world({ answers: [away, away, "1.2.4"] });
    const bundle = direct({}, { pins });
    const annotated = {
      ...bundle,
      metadata: { ...bundle.metadata, annotations: { [reconcileRequestAnnotation]: "now" } },
    };

    for (const retryMs of [1_000, 2_000]) {
      const prepared = await prepare(annotated, kept, signal);
      assert.ok(prepared.kind === "deployable");
      assert.deepEqual(
        [prepared.handled, prepared.remarks, prepared.retryMs],
        [undefined, ["get the index: refused"], retryMs],
      );
    }
    const mended = await prepare(annotated, kept, signal);
    assert.deepEqual([mended.kind, mended.handled], ["waiting", "now"]);
    assert.deepEqual(asked, ["~1.2", "~1.2", "~1.2"]);
  });

  test("with files from Git is held, and no repository is asked", async () => {
    const { prepare, asked } = world({});

    const prepared = await prepare(direct({ resources: [{ name: "a" }] }, { pins }), kept, signal);

    assert.ok(prepared.kind === "held");
    assert.equal(prepared.error.code, "BUNDLE_NOT_DEPLOYABLE");
    assert.deepEqual(prepared.pins, pins);
    assert.deepEqual(asked, []);
  });

  test("says which of its fields have no effect", async () => {
    const { prepare } = world({});
    const spec = { helm: { ...helm, vesion: "1" }, correctDrift: { enabled: true } };

    const prepared = await prepare(direct(spec, { pins }), kept, signal);

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

    const held = await prepare(direct(), none, signal);
    assert.ok(held.kind === "held");
    assert.equal(held.error.code, "POLICY_VIOLATION");
    assert.deepEqual(asked, []);

    policyStore.remove(noEvil);
    assert.equal((await prepare(direct(), none, signal)).kind, "waiting");
  });

  test("holds a HelmOp's Bundle too", async () => {
    const { prepare } = world({ policies: [noEvil], helmOps: [aHelmOp()] });
    const bundle = seals.sealed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    assert.equal((await prepare(bundle, none, signal)).kind, "held");
  });

  test("gives defaults to HelmOps: their Bundle waits to be written anew, another one is held", async () => {
    const policies = [
      aPolicy("guard", {
        requireServiceAccount: true,
        helmOp: { defaultServiceAccount: "deployer" },
      }),
    ];
    const bundle = seals.sealed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    const ofHelmOp = world({ policies, helmOps: [aHelmOp()] });
    assert.deepEqual(await ofHelmOp.prepare(bundle, none, signal), { kind: "waiting" });
    assert.equal((await world({ policies }).prepare(direct(), none, signal)).kind, "held");
  });

  test("that requires a ServiceAccount keeps namespaces from being made, whatever targets say", async () => {
    const policies = [aPolicy("guard", { requireServiceAccount: true })];
    const { prepare } = world({ policies, helmOps: [aHelmOp()] });
    const bundle = seals.sealed(
      aBundle({
        helm,
        serviceAccount: "deployer",
        targets: [{ clusterSelector: {}, createNamespace: true }],
        helmOpOptions: { pins },
      }),
    );

    const prepared = await prepare(bundle, none, signal);

    assert.ok(prepared.kind === "deployable");
    assert.equal(prepared.spec.createNamespace, false);
    assert.equal(prepared.spec.targets?.[0]?.createNamespace, false);
    assert.equal(bundle.spec.createNamespace, undefined);
  });

  test("that has nothing against a HelmOp's Bundle leaves it as it is", async () => {
    const { prepare } = world({ helmOps: [aHelmOp()] });
    const bundle = seals.sealed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    const prepared = await prepare(bundle, none, signal);

    assert.ok(prepared.kind === "deployable");
    assert.equal(prepared.spec, bundle.spec);
  });

  test("has a HelmOp's Bundle wait in which somebody wrote pins, until the HelmOp's loop writes it anew", async () => {
    const { prepare } = world({ helmOps: [aHelmOp()] });
    const sealed = seals.sealed(aBundle({ helm, targets, helmOpOptions: { pins } }));
    const forged = aBundle({
      ...sealed.spec,
      helmOpOptions: { ...sealed.spec.helmOpOptions, pins: [{ ...helm, pin: httpPin("9.9.9") }] },
    });

    assert.deepEqual(await prepare(forged, none, signal), { kind: "waiting" });
  });
});
