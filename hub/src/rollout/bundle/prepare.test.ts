import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aBundle, digestB, httpPin } from "../../testing/index.ts";
import { resolvedStatus } from "./decided-status.ts";
import type { Prepared } from "./prepare.ts";
import { createPreparer, direct, helm, pins, signer, targets } from "./testing/index.ts";

/** The Bundle with the state that its preparation returned. */
function after(bundle: Bundle, prepared: Prepared): Bundle {
  assert.ok("resolution" in prepared);
  return { ...bundle, status: resolvedStatus(bundle.status, prepared.resolution) };
}

describe("a Bundle that was applied by hand", () => {
  test("is resolved, and deployed once its pins are stored", async () => {
    const { prepare, requestedVersions } = createPreparer({ answers: ["1.2.9"] });

    const resolved = await prepare(direct());
    assert.equal(resolved.kind, "resolved");
    const stored = after(direct(), resolved);
    assert.deepEqual(stored.status?.pins, pins);

    const prepared = await prepare(stored);
    assert.equal(prepared.kind, "deployable");
    assert.equal(prepared.spec.helm?.version, "1.2.9");
    assert.deepEqual(requestedVersions, ["~1.2"]);
  });

  test("gets the identical spec each time, so that it is packed once", async () => {
    const { prepare } = createPreparer({});
    const bundle = direct({}, { pins, resolution: { observedGeneration: 1 } });

    const [first, second] = [await prepare(bundle), await prepare(bundle)];

    assert.ok(first.kind === "deployable" && second.kind === "deployable");
    assert.equal(first.spec, second.spec);
  });

  test("is resolved again when its chart reference changes", async () => {
    const { prepare, requestedVersions } = createPreparer({ answers: ["1.3.0"] });
    const bundle = direct({ helm: { ...helm, version: "~1.3" } }, { pins });

    const changed = after(bundle, await prepare(bundle));

    assert.deepEqual(changed.status?.pins, [{ ...helm, version: "~1.3", pin: httpPin("1.3.0") }]);
    assert.deepEqual(requestedVersions, ["~1.3"]);
  });

  test("does not use pins that its author writes", async () => {
    const { prepare } = createPreparer({ answers: ["1.2.9"] });
    const forged = [{ ...helm, pin: httpPin("6.6.6", digestB) }];
    const bundle = direct({ helmOpOptions: { pins: forged } });

    assert.deepEqual(after(bundle, await prepare(bundle)).status?.pins, pins);
  });

  test("is not accepted with an origin that the hub has not signed for it", async () => {
    const { prepare, requestedVersions } = createPreparer({ answers: ["1.2.9"] });
    const origin = {
      kind: "HelmRelease",
      name: "web",
      clusterNamespace: "fleet-local",
      serviceAccount: "system:serviceaccount:kube-system:admin",
    } as const;

    const forged = ({ spec, ...bundle }: Bundle): Bundle => ({
      ...bundle,
      spec: { ...spec, helmOpOptions: { ...spec.helmOpOptions, origin } },
    });
    const signed = signer.signed(direct({ helmOpOptions: { origin, pins } }));

    for (const bundle of [
      direct({ helmOpOptions: { origin } }),
      forged(signer.signed(direct({ helmOpOptions: { pins } }))),
      { ...signed, metadata: { ...signed.metadata, name: "other" } },
    ]) {
      const prepared = await prepare(bundle);

      assert.ok(prepared.kind === "notAccepted");
      assert.match(
        prepared.accepted.message,
        /^spec\.helmOpOptions\.origin is set, which only the hub may write/,
      );
    }
    assert.deepEqual(requestedVersions, []);
  });

  test("does not belong to a HelmOp because of its label alone", async () => {
    const { prepare } = createPreparer({ answers: ["1.2.9"] });

    assert.equal((await prepare(aBundle({ helm, targets }))).kind, "resolved");
  });

  test("is not accepted while its chart cannot be resolved, and is retried with backoff", async () => {
    const unavailable = new AppError(chartErrors.INDEX_FETCH, "get the index: connection refused");
    const { prepare, clock, requestedVersions } = createPreparer({
      answers: [unavailable, unavailable, "1.2.9"],
    });
    let bundle = direct();

    for (const delayMs of [1_000, 2_000]) {
      const count = requestedVersions.length + 1;
      const rejected = await prepare(bundle);
      assert.ok(rejected.kind === "notAccepted");
      assert.equal(rejected.accepted.reason, "Error");
      assert.match(
        rejected.accepted.message,
        /^could not get a chart version: get the index: connection refused; retrying at 2026-01-01T00:00:0/,
      );
      assert.equal(rejected.nextAtMs, clock.now() + delayMs);
      bundle = after(bundle, rejected);
      assert.equal((await prepare(bundle)).kind, "notAccepted");
      assert.equal(requestedVersions.length, count);
      await clock.advance(delayMs);
    }
    const resolved = await prepare(bundle);
    assert.equal(resolved.kind, "resolved");
    assert.equal(after(bundle, resolved).status?.resolution?.error, undefined);
  });

  test("says since when it is resolved again once that takes long", async () => {
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    const { prepare, clock, retrying } = createPreparer({ answers: ["1.2.9", "1.2.9"], slow });
    const failed = { observedGeneration: 1, error: "connection refused", failures: 1 };
    const nextAttemptTime = "2026-01-01T00:00:00.000Z";
    const running = Promise.all([
      prepare(direct({}, { resolution: { ...failed, nextAttemptTime } })),
      prepare(direct({})),
    ]);
    await clock.advance(4_999);
    assert.deepEqual(retrying, []);
    await clock.advance(60_000);
    resolve();
    await running;

    assert.deepEqual(retrying, [
      [
        "could not get a chart version: connection refused; trying again since 2026-01-01T00:00:00Z",
      ],
    ]);
  });

  test("with a version that does not exist is not accepted until it changes", async () => {
    const wrong = new AppError(chartErrors.CHART_VERSION_NOT_FOUND, "no such version", {
      retryable: false,
    });
    const { prepare } = createPreparer({ answers: [wrong] });

    const rejected = await prepare(direct());

    assert.ok(rejected.kind === "notAccepted");
    assert.equal(rejected.accepted.message, "could not get a chart version: no such version");
    assert.equal(rejected.nextAtMs, undefined);
  });

  test("keeps its pin while that cannot be resolved again, and reports the error", async () => {
    const unavailable = new AppError(chartErrors.INDEX_FETCH, "get the index: connection refused");
    const { prepare, failFetch, requestedVersions, clock } = createPreparer({
      answers: [unavailable],
    });
    failFetch();

    const prepared = await prepare(direct({}, { pins, resolution: { observedGeneration: 1 } }));

    assert.ok(prepared.kind === "deployable");
    assert.deepEqual(prepared.remarks, ["get the index: connection refused"]);
    assert.equal(prepared.resolution?.state.pinCheck?.count, 1);
    assert.equal(prepared.nextAtMs, clock.now() + 4_000);
    assert.deepEqual(requestedVersions, ["1.2.9"]);
  });

  const requested = (bundle: Bundle): Bundle => ({
    ...bundle,
    metadata: { ...bundle.metadata, annotations: { [reconcileRequestAnnotation]: "now" } },
  });

  test("is resolved again once for each value of the reconcile request, and the result is pinned", async () => {
    const { prepare, requestedVersions } = createPreparer({ answers: ["1.2.4"] });
    const bundle = requested(direct({}, { pins, resolution: { observedGeneration: 1 } }));

    const handled = after(bundle, await prepare(bundle));
    assert.deepEqual(handled.status?.pins, [{ ...helm, pin: httpPin("1.2.4") }]);
    assert.equal(handled.status.lastHandledReconcileAt, "now");

    assert.equal((await prepare(handled)).kind, "deployable");
    assert.deepEqual(requestedVersions, ["~1.2"]);
  });

  test("keeps its pins when a requested resolution fails, reports it and retries until it succeeds", async () => {
    const unavailable = new AppError(chartErrors.INDEX_FETCH, "get the index: connection refused");
    const { prepare, requestedVersions, clock } = createPreparer({
      answers: [unavailable, unavailable, "1.2.4"],
    });
    let bundle = requested(direct({}, { pins, resolution: { observedGeneration: 1 } }));

    for (const delayMs of [1_000, 2_000]) {
      const prepared = await prepare(bundle);
      assert.ok(prepared.kind === "deployable");
      assert.match(
        prepared.remarks[0] ?? "",
        /^could not get a chart version: get the index: connection refused; retrying at /,
      );
      assert.equal(prepared.nextAtMs, clock.now() + delayMs);
      bundle = after(bundle, prepared);
      assert.equal(bundle.status?.resolution?.requestFailed, true);
      await clock.advance(delayMs);
    }
    const resolved = await prepare(bundle);
    assert.equal(resolved.kind, "resolved");
    assert.equal(after(bundle, resolved).status?.resolution?.requestFailed, undefined);
    assert.deepEqual(requestedVersions, ["~1.2", "~1.2", "~1.2"]);
  });

  test("with files from Git is not accepted, and its source gets no request", async () => {
    const { prepare, requestedVersions } = createPreparer({});
    const bundle = direct({ resources: [{ name: "a" }] }, { pins });

    const rejected = await prepare(bundle);

    assert.ok(rejected.kind === "notAccepted");
    assert.equal(rejected.error?.code, "BUNDLE_NOT_DEPLOYABLE");
    assert.deepEqual(after(bundle, rejected).status?.pins, pins);
    assert.deepEqual(requestedVersions, []);
  });

  test("reports fields that have no effect", async () => {
    const { prepare } = createPreparer({});
    const spec = { helm: { ...helm, vesion: "1" }, yaml: { overlays: ["a"] } };

    const prepared = await prepare(direct(spec, { pins, resolution: { observedGeneration: 1 } }));

    assert.ok(prepared.kind === "deployable");
    assert.deepEqual(prepared.remarks, [
      "unknown field spec.helm.vesion has no effect, did you mean spec.helm.version?",
      "spec.yaml has no effect in this version of Flotilla",
    ]);
  });
});

describe("a Bundle that the hub signed for a HelmRelease", () => {
  const owner = { uid: "uid-1", generation: 2 };
  const ofRelease = (made: Partial<typeof owner>) =>
    signer.signed(
      direct({ helmOpOptions: { pins, origin: { kind: "HelmRelease", name: "web", ...made } } }),
    );
  const deletionTimestamp = "2026-01-01T00:00:00Z";

  for (const [what, made, found, kind] of [
    ["is deployed while it lives", owner, owner, "deployable"],
    ["deploys nothing when it is gone", owner, undefined, "held"],
    ["deploys nothing when it is being deleted", owner, { ...owner, deletionTimestamp }, "held"],
    ["deploys nothing for another of its name", owner, { ...owner, uid: "uid-2" }, "held"],
    ["deploys nothing for a later generation", owner, { ...owner, generation: 3 }, "held"],
    ["deploys nothing before its controller has written it again", {}, owner, "held"],
  ] as const)
    test(what, async () => {
      const asked: string[] = [];
      const { prepare } = createPreparer({
        ownerOf(of, key) {
          asked.push(`${of} ${key}`);
          return found && { metadata: { name: "web", ...found } };
        },
      });

      assert.equal((await prepare(ofRelease(made))).kind, kind);
      assert.deepEqual(asked, made === owner ? ["HelmRelease fleet-default/web"] : []);
    });
});
