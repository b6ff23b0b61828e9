import assert from "node:assert/strict";
import type { Bundle, HelmOp } from "@flotilla/shared/api";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors, type Pin } from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import { describe, test } from "vitest";
import { aHelmOp, aPolicy, createTestHelmOps, digestB, httpPin, web } from "../testing/index.ts";

const away = new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: refused");

/** A repository whose answer a test sets, and how often it was asked. */
function repository(first: Pin | AppError) {
  const answers = { current: first, asked: 0 };
  const resolver: Resolver = {
    resolve() {
      answers.asked += 1;
      const { current } = answers;
      return current instanceof AppError
        ? Promise.reject(current)
        : Promise.resolve({ pin: current, problems: [] });
    },
  };
  return { answers, loop: createTestHelmOps(resolver) };
}

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
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());

    assert.deepEqual(await loop.reconcile(web), { kind: "done" });
    answers.current = httpPin("1.2.4");
    await loop.reconcile(web);
    loop.restart();
    await loop.reconcile(web);

    assert.equal(answers.asked, 1);
    assert.equal(loop.helmOp(web).status?.version, "1.2.3");
  });

  test("keeps its pins when somebody writes others into its Bundle, also after a change of leader", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);
    const own = loop.bundle(web);
    assert.ok(own !== undefined);
    const forged = withPins(own, httpPin("1.2.3", digestB));

    answers.current = httpPin("1.2.4");
    loop.putBundle(forged);
    await loop.reconcile(web);
    assert.deepEqual(loop.bundle(web)?.spec, own.spec);

    loop.putBundle(forged);
    loop.restart();
    await loop.reconcile(web);
    assert.equal(answers.asked, 1);
    assert.deepEqual(loop.bundle(web)?.spec, own.spec);
  });

  test("keeps an address with a password out of its status, and its pin in the Bundle", async () => {
    const pin = { ...httpPin("1.2.3"), url: "https://me:pw@charts.example.com/web-1.2.3.tgz" };
    const { answers, loop } = repository(pin);
    loop.put(aHelmOp());
    await loop.reconcile(web);

    answers.current = httpPin("1.2.4");
    loop.restart();
    await loop.reconcile(web);

    assert.equal(answers.asked, 1);
    assert.equal(loop.helmOp(web).status?.version, "1.2.3");
    assert.deepEqual(loop.bundle(web)?.spec.helmOpOptions?.pins?.[0]?.pin, pin);
    assert.ok(!JSON.stringify(loop.helmOp(web).status).includes("pw"));
  });

  test("is resolved anew when its constraint changes", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);

    const { helm } = aHelmOp().spec;
    answers.current = httpPin("1.1.9");
    loop.put({ ...loop.helmOp(web), spec: { helm: { ...helm, version: "~1.1" } } });
    await loop.reconcile(web);

    assert.equal(loop.helmOp(web).status?.version, "1.1.9");
  });

  test("is resolved anew when somebody asks, once for each value", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);

    answers.current = httpPin("1.2.4");
    loop.put(annotated(reconcileRequestAnnotation, "one", loop.helmOp(web)));
    await loop.reconcile(web);
    await loop.reconcile(web);
    loop.restart();
    await loop.reconcile(web);

    assert.equal(answers.asked, 2);
    const { version, lastHandledReconcileAt } = loop.helmOp(web).status ?? {};
    assert.deepEqual([version, lastHandledReconcileAt], ["1.2.4", "one"]);
  });

  test("follows what a poll would only report when somebody asks", async () => {
    for (const fresh of [httpPin("1.2.3", digestB), httpPin("1.2.1")]) {
      const { answers, loop } = repository(httpPin("1.2.3"));
      loop.put(annotated(reconcileRequestAnnotation, "one", aHelmOp()));
      await loop.reconcile(web);

      answers.current = fresh;
      loop.put(annotated(reconcileRequestAnnotation, "two", loop.helmOp(web)));
      await loop.reconcile(web);

      const { status } = loop.helmOp(web);
      assert.equal(status?.version, fresh.kind === "http" ? fresh.version : "");
      assert.equal(findCondition(status.conditions, "Accepted")?.message, "");
    }
  });

  test("that was asked in vain says so, keeps what it has, and tries until it knows, restarts and all", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);
    answers.current = away;
    loop.put(annotated(reconcileRequestAnnotation, "one", loop.helmOp(web)));

    const first = await loop.reconcile(web);

    const { status } = loop.helmOp(web);
    const stalled = findCondition(status?.conditions, "Stalled");
    assert.equal(status?.lastHandledReconcileAt, "one");
    assert.equal(status.version, "1.2.3");
    assert.equal(findCondition(status.conditions, "Accepted")?.status, "True");
    assert.equal(stalled?.status, "True");
    assert.match(
      stalled.message ?? "",
      /^GET index\.yaml: refused; retrying at 2026-01-01T00:00:01Z$/,
    );
    assert.deepEqual(first, { kind: "requeue", afterMs: 1_000, why: "resolve" });
    assert.equal(loop.events.at(-1)?.reason, "FailedToGetNewChartVersion");

    loop.restart();
    answers.current = httpPin("1.2.1");
    assert.deepEqual(await loop.reconcile(web), first, "not before its time");
    await loop.clock.advance(1_000);
    assert.deepEqual(await loop.reconcile(web), { kind: "done" });

    const mended = loop.helmOp(web).status;
    assert.equal(mended?.version, "1.2.1", "what was asked for, though it is older");
    assert.equal(findCondition(mended.conditions, "Stalled")?.status, "False");
  });

  test("that was asked while one of its charts had no pin yet has the others read anew too", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);
    answers.current = away;
    const targets = [{ clusterSelector: {}, helm: { chart: "other" } }];
    const asked = annotated(reconcileRequestAnnotation, "one", loop.helmOp(web));
    loop.put({ ...asked, spec: { ...asked.spec, targets } });
    await loop.reconcile(web);

    answers.current = httpPin("1.2.4");
    await loop.clock.advance(1_000);
    await loop.reconcile(web);

    assert.equal(loop.helmOp(web).status?.version, "1.2.4");
  });

  test("leaves a request open while it is suspended", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);
    const asked = annotated(reconcileRequestAnnotation, "one", loop.helmOp(web));
    loop.put({ ...asked, spec: { ...asked.spec, suspend: true } });

    await loop.reconcile(web);
    assert.equal(answers.asked, 1);
    assert.equal(loop.helmOp(web).status?.lastHandledReconcileAt, undefined);

    loop.put({ ...loop.helmOp(web), spec: asked.spec });
    await loop.reconcile(web);
    assert.equal(answers.asked, 2);
  });

  test("that is refused has its request handled all the same", async () => {
    const { loop } = repository(httpPin("1.2.3"));
    loop.put(annotated(reconcileRequestAnnotation, "one", aHelmOp({ helm: null })));
    await loop.reconcile(web);
    const { status } = loop.helmOp(web);
    assert.equal(status?.lastHandledReconcileAt, "one");
    assert.equal(findCondition(status.conditions, "Stalled")?.status, "True");
  });
});

describe("a HelmOp whose chart an agent could not fetch", () => {
  for (const pollingInterval of ["0s", "1h"])
    test(`says what its repository answered, until the agent could (polled every ${pollingInterval})`, async () => {
      const { answers, loop } = repository(httpPin("1.2.3"));
      loop.put(aHelmOp({ pollingInterval }));
      await loop.reconcile(web);
      const next = loop.helmOp(web).status?.lastPollingTriggered;
      const stalled = () => findCondition(loop.helmOp(web).status?.conditions, "Stalled");

      answers.current = away;
      loop.fetchFails(true);
      await loop.reconcile(web);
      assert.equal(stalled()?.status, "True");
      assert.match(stalled()?.message ?? "", /GET index\.yaml: refused/);

      await loop.reconcile(web);
      assert.equal(answers.asked, 2, "not again before its time");
      loop.fetchFails(false);
      await loop.reconcile(web);
      assert.equal(stalled()?.status, "False");
      assert.equal(answers.asked, 2);
      assert.equal(loop.helmOp(web).status?.pinCheck, undefined);
      assert.equal(loop.helmOp(web).status?.lastPollingTriggered, next);
    });
});

describe("a HelmOp whose chart cannot be resolved", () => {
  test("is retried at growing intervals, which a change of leader does not begin again", async () => {
    const { answers, loop } = repository(away);
    loop.put(aHelmOp());
    for (const afterMs of [1_000, 2_000, 4_000]) {
      assert.deepEqual(await loop.reconcile(web), { kind: "requeue", afterMs, why: "resolve" });
      const asked = answers.asked;
      loop.restart();
      assert.deepEqual(await loop.reconcile(web), { kind: "requeue", afterMs, why: "resolve" });
      assert.equal(answers.asked, asked);
      await loop.clock.advance(afterMs);
    }

    const { conditions, polling } = loop.helmOp(web).status ?? {};
    assert.deepEqual(
      [polling?.failures, polling?.error, polling?.nextAttemptTime],
      [3, away.message, "2026-01-01T00:00:07Z"],
    );
    const accepted = findCondition(conditions, "Accepted");
    assert.deepEqual(
      [accepted?.status, accepted?.reason, accepted?.message],
      [
        "False",
        "ChartNotResolved",
        "could not get a chart version: GET index.yaml: refused; retrying at 2026-01-01T00:00:07Z",
      ],
    );
  });

  test("is resolved at once when its spec changes", async () => {
    const { answers, loop } = repository(away);
    loop.put(aHelmOp());
    await loop.reconcile(web);
    answers.current = httpPin("1.2.3");
    loop.put({ ...loop.helmOp(web), spec: { ...aHelmOp().spec, labels: { a: "b" } } });

    await loop.reconcile(web);

    const { status } = loop.helmOp(web);
    assert.equal(status?.version, "1.2.3");
    assert.equal(status.polling?.error, undefined);
    assert.equal(findCondition(status.conditions, "Stalled")?.status, "False");
  });
});

describe("a HelmOp with polling", () => {
  const polled = aHelmOp({ pollingInterval: "1m" });

  test("tells of each attempt, whatever came of it, and goes on after a failure", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(polled);
    const times: (string | null | undefined)[] = [];
    for (const answer of [httpPin("1.2.3"), away, away, httpPin("1.2.4")]) {
      answers.current = answer;
      const next = await loop.reconcile(web);
      times.push(loop.helmOp(web).status?.lastPollingTriggered);
      assert.ok(next.kind === "requeue");
      await loop.clock.advance(next.afterMs);
    }

    assert.equal(new Set(times).size, 4);
    assert.equal(answers.asked, 4);
    assert.equal(loop.helmOp(web).status?.version, "1.2.4");
    assert.deepEqual(
      loop.events.map(({ reason, note }) => `${reason} ${note}`),
      [
        "GotNewChartVersion 1.2.3",
        "FailedToGetNewChartVersion GET index.yaml: refused",
        "FailedToGetNewChartVersion GET index.yaml: refused",
        "GotNewChartVersion 1.2.4",
      ],
    );
  });

  test("is not polled before its time, neither by a change of something else nor by a restart", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(polled);
    const next = await loop.reconcile(web);
    assert.ok(next.kind === "requeue");

    await loop.clock.advance(next.afterMs - 1);
    loop.put({ ...loop.helmOp(web), spec: { ...polled.spec, labels: { a: "b" } } });
    await loop.reconcile(web);
    loop.restart();
    assert.deepEqual(await loop.reconcile(web), { kind: "requeue", afterMs: 1, why: "resolve" });

    assert.equal(answers.asked, 1);
  });

  test("is told what was to be known of its version by a hub that starts anew, too", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(polled);
    await loop.reconcile(web);
    answers.current = httpPin("1.2.3", digestB);
    loop.put(annotated(pollRequestAnnotation, "push", loop.helmOp(web)));
    await loop.reconcile(web);
    loop.restart();
    await loop.reconcile(web);

    const accepted = findCondition(loop.helmOp(web).status?.conditions, "Accepted");
    assert.match(accepted?.message ?? "", /^version 1\.2\.3 was published again with other bytes/);
    assert.equal(answers.asked, 2);
  });

  test("is polled at once when something was pushed, once for each push", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(polled);
    await loop.reconcile(web);

    answers.current = httpPin("1.2.4");
    loop.put(annotated(pollRequestAnnotation, "push", loop.helmOp(web)));
    await loop.reconcile(web);
    await loop.reconcile(web);
    loop.restart();
    await loop.reconcile(web);

    assert.equal(answers.asked, 2);
    const { version, lastHandledPollRequest } = loop.helmOp(web).status ?? {};
    assert.deepEqual([version, lastHandledPollRequest], ["1.2.4", "push"]);
  });

  test("keeps what a push would have changed behind its back", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(polled);
    await loop.reconcile(web);
    answers.current = httpPin("1.2.3", digestB);
    loop.put(annotated(pollRequestAnnotation, "push", loop.helmOp(web)));

    await loop.reconcile(web);

    const accepted = findCondition(loop.helmOp(web).status?.conditions, "Accepted");
    assert.match(accepted?.message ?? "", /published again with other bytes/);
  });

  test("that is suspended is not polled, and keeps what it has", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(polled);
    await loop.reconcile(web);
    await loop.clock.advance(3_600_000);
    answers.current = httpPin("1.2.4");
    loop.put({ ...loop.helmOp(web), spec: { ...polled.spec, suspend: true } });

    assert.deepEqual(await loop.reconcile(web), { kind: "done" });

    assert.equal(answers.asked, 1);
    assert.equal(loop.helmOp(web).status?.version, "1.2.3");
  });
});

describe("a HelmOp under a Policy", () => {
  const guard = aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: ["https://good/.*"] } });

  test("is refused before its repository is asked, with one Warning, also after a restart", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.govern(guard);
    loop.put(aHelmOp());

    assert.deepEqual(await loop.reconcile(web), { kind: "done" });
    await loop.reconcile(web);
    loop.restart();
    await loop.reconcile(web);

    assert.equal(answers.asked, 0);
    assert.equal(loop.bundle(web), undefined);
    const accepted = findCondition(loop.helmOp(web).status?.conditions, "Accepted");
    assert.equal(accepted?.status, "False");
    assert.match(accepted.message ?? "", /^disallowed helm repo/);
    assert.deepEqual(
      loop.events.map(({ reason, action, note }) => [reason, action, note]),
      [["PolicyViolation", "ApplyPolicyRestrictions", accepted.message]],
    );
  });

  test("that comes later keeps the Bundle and its pin, and lets nothing through until it is gone", async () => {
    const { answers, loop } = repository(httpPin("1.2.3"));
    loop.put(aHelmOp());
    await loop.reconcile(web);
    const before = loop.bundle(web);

    loop.govern(guard);
    loop.put({ ...loop.helmOp(web), spec: { ...aHelmOp().spec, namespace: "other" } });
    await loop.reconcile(web);
    assert.deepEqual(loop.bundle(web), before);
    assert.equal(loop.helmOp(web).status?.version, "1.2.3");

    loop.revoke(guard);
    await loop.reconcile(web);
    assert.equal(loop.bundle(web)?.spec.namespace, "other");
    assert.equal(answers.asked, 1);
  });

  test("gets its defaults, which its Bundle has and it itself has not", async () => {
    const { loop } = repository(httpPin("1.2.3"));
    loop.govern(
      aPolicy("guard", {
        requireServiceAccount: true,
        helmOp: { defaultServiceAccount: "deployer", defaultHelmSecretName: "login" },
      }),
    );
    loop.put(aHelmOp());

    await loop.reconcile(web);

    const { serviceAccount, helmOpOptions } = loop.bundle(web)?.spec ?? {};
    assert.deepEqual([serviceAccount, helmOpOptions?.helmOpSecretName], ["deployer", "login"]);
    assert.equal(loop.helmOp(web).spec.serviceAccount, undefined);
    assert.equal(loop.helmOp(web).spec.helmSecretName, undefined);
  });
});
