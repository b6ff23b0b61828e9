import assert from "node:assert/strict";
import type { Bundle, HelmOp } from "@flotilla/shared/api";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors, type Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aHelmOp, digestB, httpPin, testRepository, web } from "../../testing/index.ts";

const unavailable = new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: connection refused");

function annotated(name: string, value: string, helmOp: HelmOp): HelmOp {
  const { annotations } = helmOp.metadata;
  return {
    ...helmOp,
    metadata: { ...helmOp.metadata, annotations: { ...annotations, [name]: value } },
  };
}

function withPins(bundle: Bundle, pin: Pin): Bundle {
  const { pins = [], ...options } = bundle.spec.helmOpOptions ?? {};
  const helmOpOptions = { ...options, pins: pins.map((each) => ({ ...each, pin })) };
  return { ...bundle, spec: { ...bundle.spec, helmOpOptions } };
}

describe("a HelmOp without polling", () => {
  test("is resolved once, and not again after a restart", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());

    assert.deepEqual(await helmOps.reconcile(web), { kind: "done" });
    answers.current = httpPin("1.2.4");
    await helmOps.reconcile(web);
    helmOps.restart();
    await helmOps.reconcile(web);

    assert.equal(answers.requests, 1);
    assert.equal(helmOps.helmOp(web).status?.version, "1.2.3");
  });

  test("keeps its pins when somebody edits its Bundle, also with a new leader", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    const own = helmOps.bundle(web);
    assert.ok(own !== undefined);
    const forged = withPins(own, httpPin("1.2.3", digestB));

    answers.current = httpPin("1.2.4");
    helmOps.putBundle(forged);
    await helmOps.reconcile(web);
    assert.deepEqual(helmOps.bundle(web)?.spec, own.spec);

    helmOps.putBundle(forged);
    helmOps.restart();
    await helmOps.reconcile(web);
    assert.equal(answers.requests, 1);
    assert.deepEqual(helmOps.bundle(web)?.spec, own.spec);
  });

  test("keeps an address with a password out of its status, and its pin in the Bundle", async () => {
    const pin = { ...httpPin("1.2.3"), url: "https://me:pw@charts.example.com/web-1.2.3.tgz" };
    const { answers, helmOps } = testRepository(pin);
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);

    answers.current = httpPin("1.2.4");
    helmOps.restart();
    await helmOps.reconcile(web);

    assert.equal(answers.requests, 1);
    assert.equal(helmOps.helmOp(web).status?.version, "1.2.3");
    assert.deepEqual(helmOps.bundle(web)?.spec.helmOpOptions?.pins?.[0]?.pin, pin);
    assert.ok(!JSON.stringify(helmOps.helmOp(web).status).includes("pw"));
  });

  test("is resolved again when its constraint changes", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);

    const { helm } = aHelmOp().spec;
    answers.current = httpPin("1.1.9");
    helmOps.put({ ...helmOps.helmOp(web), spec: { helm: { ...helm, version: "~1.1" } } });
    await helmOps.reconcile(web);

    assert.equal(helmOps.helmOp(web).status?.version, "1.1.9");
  });

  test("is resolved again once for each value of the reconcile request", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);

    answers.current = httpPin("1.2.4");
    helmOps.put(annotated(reconcileRequestAnnotation, "one", helmOps.helmOp(web)));
    await helmOps.reconcile(web);
    await helmOps.reconcile(web);
    helmOps.restart();
    await helmOps.reconcile(web);

    assert.equal(answers.requests, 2);
    const { version, lastHandledReconcileAt } = helmOps.helmOp(web).status ?? {};
    assert.deepEqual([version, lastHandledReconcileAt], ["1.2.4", "one"]);
  });

  test("pins on request what a poll would only report", async () => {
    for (const fresh of [httpPin("1.2.3", digestB), httpPin("1.2.1")]) {
      const { answers, helmOps } = testRepository(httpPin("1.2.3"));
      helmOps.put(annotated(reconcileRequestAnnotation, "one", aHelmOp()));
      await helmOps.reconcile(web);

      answers.current = fresh;
      helmOps.put(annotated(reconcileRequestAnnotation, "two", helmOps.helmOp(web)));
      await helmOps.reconcile(web);

      const { status } = helmOps.helmOp(web);
      assert.equal(status?.version, fresh.kind === "http" ? fresh.version : "");
      assert.equal(findCondition(status.conditions, "Accepted")?.message, "");
    }
  });

  test("keeps its pins when a requested resolution fails, reports it and retries, also after restarts", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    answers.current = unavailable;
    helmOps.put(annotated(reconcileRequestAnnotation, "one", helmOps.helmOp(web)));

    const first = await helmOps.reconcile(web);

    const { status } = helmOps.helmOp(web);
    const stalled = findCondition(status?.conditions, "Stalled");
    assert.equal(status?.lastHandledReconcileAt, "one");
    assert.equal(status.version, "1.2.3");
    assert.equal(findCondition(status.conditions, "Accepted")?.status, "True");
    assert.equal(stalled?.status, "True");
    assert.match(
      stalled.message ?? "",
      /^could not get a chart version: GET index\.yaml: connection refused; retrying at 2026-01-01T00:00:01Z$/,
    );
    assert.deepEqual(first, { kind: "requeue", afterMs: 1_000, why: "resolve" });
    assert.equal(helmOps.events.at(-1)?.reason, "FailedToGetNewChartVersion");

    helmOps.restart();
    answers.current = httpPin("1.2.1");
    assert.deepEqual(await helmOps.reconcile(web), first, "not before its time");
    await helmOps.clock.advance(1_000);
    assert.deepEqual(await helmOps.reconcile(web), { kind: "done" });

    const recovered = helmOps.helmOp(web).status;
    assert.equal(recovered?.version, "1.2.1", "the requested version, though it is older");
    assert.equal(findCondition(recovered.conditions, "Stalled")?.status, "False");
  });

  test("also resolves its other charts when the request was made while one chart had no pin", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    answers.current = unavailable;
    const targets = [{ clusterSelector: {}, helm: { chart: "other" } }];
    const requested = annotated(reconcileRequestAnnotation, "one", helmOps.helmOp(web));
    helmOps.put({ ...requested, spec: { ...requested.spec, targets } });
    await helmOps.reconcile(web);

    answers.current = httpPin("1.2.4");
    await helmOps.clock.advance(1_000);
    await helmOps.reconcile(web);

    assert.equal(helmOps.helmOp(web).status?.version, "1.2.4");
  });

  test("handles a request only after it is resumed", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    const requested = annotated(reconcileRequestAnnotation, "one", helmOps.helmOp(web));
    helmOps.put({ ...requested, spec: { ...requested.spec, suspend: true } });

    await helmOps.reconcile(web);
    assert.equal(answers.requests, 1);
    assert.equal(helmOps.helmOp(web).status?.lastHandledReconcileAt, undefined);

    helmOps.put({ ...helmOps.helmOp(web), spec: requested.spec });
    await helmOps.reconcile(web);
    assert.equal(answers.requests, 2);
  });

  test("marks a request as handled when it is rejected", async () => {
    const { helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(annotated(reconcileRequestAnnotation, "one", aHelmOp({ helm: null })));
    await helmOps.reconcile(web);
    const { status } = helmOps.helmOp(web);
    assert.equal(status?.lastHandledReconcileAt, "one");
    assert.equal(findCondition(status.conditions, "Stalled")?.status, "True");
  });
});

describe("a HelmOp whose chart an agent could not fetch", () => {
  for (const pollingInterval of ["0s", "1h"])
    test(`reports the repository's answer until the agent fetches it (polled every ${pollingInterval})`, async () => {
      const { answers, helmOps } = testRepository(httpPin("1.2.3"));
      helmOps.put(aHelmOp({ pollingInterval }));
      await helmOps.reconcile(web);
      const next = helmOps.helmOp(web).status?.lastPollingTriggered;
      const stalled = () => findCondition(helmOps.helmOp(web).status?.conditions, "Stalled");

      answers.current = unavailable;
      helmOps.fetchFails(true);
      await helmOps.reconcile(web);
      assert.equal(stalled()?.status, "True");
      assert.match(stalled()?.message ?? "", /GET index\.yaml: connection refused/);

      await helmOps.reconcile(web);
      assert.equal(answers.requests, 2, "not again before its time");
      helmOps.fetchFails(false);
      await helmOps.reconcile(web);
      assert.equal(stalled()?.status, "False");
      assert.equal(answers.requests, 2);
      assert.equal(helmOps.helmOp(web).status?.pinCheck, undefined);
      assert.equal(helmOps.helmOp(web).status?.lastPollingTriggered, next);
    });
});

describe("a HelmOp whose chart cannot be resolved", () => {
  test("is retried with backoff, which a new leader continues", async () => {
    const { answers, helmOps } = testRepository(unavailable);
    helmOps.put(aHelmOp());
    for (const afterMs of [1_000, 2_000, 4_000]) {
      assert.deepEqual(await helmOps.reconcile(web), { kind: "requeue", afterMs, why: "resolve" });
      const requestsBefore = answers.requests;
      helmOps.restart();
      assert.deepEqual(await helmOps.reconcile(web), { kind: "requeue", afterMs, why: "resolve" });
      assert.equal(answers.requests, requestsBefore);
      await helmOps.clock.advance(afterMs);
    }

    const { conditions, polling } = helmOps.helmOp(web).status ?? {};
    assert.deepEqual(
      [polling?.failures, polling?.error, polling?.nextAttemptTime],
      [3, unavailable.message, "2026-01-01T00:00:07.000Z"],
    );
    const accepted = findCondition(conditions, "Accepted");
    assert.deepEqual(
      [accepted?.status, accepted?.reason, accepted?.message],
      [
        "False",
        "Error",
        "could not get a chart version: GET index.yaml: connection refused; retrying at 2026-01-01T00:00:07Z",
      ],
    );
  });

  test("is resolved at once when its spec changes", async () => {
    const { answers, helmOps } = testRepository(unavailable);
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    answers.current = httpPin("1.2.3");
    helmOps.put({ ...helmOps.helmOp(web), spec: { ...aHelmOp().spec, labels: { a: "b" } } });

    await helmOps.reconcile(web);

    const { status } = helmOps.helmOp(web);
    assert.equal(status?.version, "1.2.3");
    assert.equal(status.polling?.error, undefined);
    assert.equal(findCondition(status.conditions, "Stalled")?.status, "False");
  });
});

describe("a HelmOp with polling", () => {
  const polled = aHelmOp({ pollingInterval: "1m" });

  test("reports each attempt and its result, and continues after a failure", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(polled);
    const times: (string | null | undefined)[] = [];
    for (const answer of [httpPin("1.2.3"), unavailable, unavailable, httpPin("1.2.4")]) {
      answers.current = answer;
      const next = await helmOps.reconcile(web);
      times.push(helmOps.helmOp(web).status?.lastPollingTriggered);
      assert.ok(next.kind === "requeue");
      await helmOps.clock.advance(next.afterMs);
    }

    assert.equal(new Set(times).size, 4);
    assert.equal(answers.requests, 4);
    assert.equal(helmOps.helmOp(web).status?.version, "1.2.4");
    assert.deepEqual(
      helmOps.events.map(({ reason, note }) => `${reason} ${note}`),
      [
        "GotNewChartVersion 1.2.3",
        "FailedToGetNewChartVersion GET index.yaml: connection refused",
        "FailedToGetNewChartVersion GET index.yaml: connection refused",
        "GotNewChartVersion 1.2.4",
      ],
    );
  });

  test("is not polled before its time, neither after another change nor after a restart", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(polled);
    const next = await helmOps.reconcile(web);
    assert.ok(next.kind === "requeue");

    await helmOps.clock.advance(next.afterMs - 1);
    helmOps.put({ ...helmOps.helmOp(web), spec: { ...polled.spec, labels: { a: "b" } } });
    await helmOps.reconcile(web);
    helmOps.restart();
    assert.deepEqual(await helmOps.reconcile(web), { kind: "requeue", afterMs: 1, why: "resolve" });

    assert.equal(answers.requests, 1);
  });

  test("gets the remarks on its version also from a hub that restarted", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(polled);
    await helmOps.reconcile(web);
    answers.current = httpPin("1.2.3", digestB);
    helmOps.put(annotated(pollRequestAnnotation, "push", helmOps.helmOp(web)));
    await helmOps.reconcile(web);
    helmOps.restart();
    await helmOps.reconcile(web);

    const accepted = findCondition(helmOps.helmOp(web).status?.conditions, "Accepted");
    assert.match(accepted?.message ?? "", /^version 1\.2\.3 was published again with other bytes/);
    assert.equal(answers.requests, 2);
  });

  test("is polled at once for each push", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(polled);
    await helmOps.reconcile(web);

    answers.current = httpPin("1.2.4");
    helmOps.put(annotated(pollRequestAnnotation, "push", helmOps.helmOp(web)));
    await helmOps.reconcile(web);
    await helmOps.reconcile(web);
    helmOps.restart();
    await helmOps.reconcile(web);

    assert.equal(answers.requests, 2);
    const { version, lastHandledPollRequest } = helmOps.helmOp(web).status ?? {};
    assert.deepEqual([version, lastHandledPollRequest], ["1.2.4", "push"]);
  });

  test("keeps its pin when a push changes the published archive", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(polled);
    await helmOps.reconcile(web);
    answers.current = httpPin("1.2.3", digestB);
    helmOps.put(annotated(pollRequestAnnotation, "push", helmOps.helmOp(web)));

    await helmOps.reconcile(web);

    const accepted = findCondition(helmOps.helmOp(web).status?.conditions, "Accepted");
    assert.match(accepted?.message ?? "", /published again with other bytes/);
  });

  test("is not polled while suspended, and keeps its pins", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(polled);
    await helmOps.reconcile(web);
    await helmOps.clock.advance(3_600_000);
    answers.current = httpPin("1.2.4");
    helmOps.put({ ...helmOps.helmOp(web), spec: { ...polled.spec, suspend: true } });

    assert.deepEqual(await helmOps.reconcile(web), { kind: "done" });

    assert.equal(answers.requests, 1);
    assert.equal(helmOps.helmOp(web).status?.version, "1.2.3");
  });
});
