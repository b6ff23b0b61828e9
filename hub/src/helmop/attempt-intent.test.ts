import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { chartErrors } from "@flotilla/shared/source/errors.ts";
import { describe, test } from "vitest";
import { aHelmOp, httpPin, now } from "../testing/objects.ts";
import { type Attempt, attemptIntent, refusedIntent } from "./attempt-intent.ts";

const own = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const pins = [{ ...own, pin: httpPin("1.2.3") }];
const error = new AppError(chartErrors.INDEX_FETCH, "GET x: refused");
const later = "2026-01-01T00:05:00Z";

const good: Attempt = {
  resolution: { pins },
  remarks: [],
  nextAt: undefined,
  attemptedAt: undefined,
  isAsked: false,
  handled: {},
  earlier: undefined,
};
const unpinned: Attempt = {
  ...good,
  resolution: { pins: [], failure: { error, isPinned: false } },
  attemptedAt: now,
};
const polled = aHelmOp({ pollingInterval: "5m" });

describe("what is told of an attempt", () => {
  test("that went well is the version, and nothing else", () => {
    assert.deepEqual(attemptIntent(aHelmOp(), good), {
      generation: 1,
      accepted: { ok: true },
      version: "1.2.3",
      handled: {},
    });
  });

  test("of an archive is that there is no version", () => {
    const chart = "https://x.example/a.tgz";
    const pin = { kind: "tarball", url: chart } as const;
    const resolution = { pins: [{ repo: "", chart, version: "", pin }] };

    assert.equal(attemptIntent(aHelmOp({ helm: { chart } }), { ...good, resolution }).version, "");
  });

  test("that led to no chart is why, when it is tried again, and what else is to be known", () => {
    const intent = attemptIntent(aHelmOp(), {
      ...unpinned,
      nextAt: later,
      remarks: ["unknown field x"],
    });

    assert.deepEqual(intent, {
      generation: 1,
      accepted: {
        ok: false,
        message: `could not get a chart version: GET x: refused; it is tried again at ${later}; unknown field x`,
      },
      stalled: {
        reason: "Stalled",
        message: `could not get a chart version: GET x: refused; it is tried again at ${later}`,
      },
      handled: {},
    });
  });

  test("that is not tried again makes no such promise", () => {
    const { accepted } = attemptIntent(aHelmOp(), unpinned);

    assert.equal(accepted?.message, "could not get a chart version: GET x: refused");
  });

  test("to poll what is pinned leaves it accepted, and is told as a poll", () => {
    const resolution = { pins, failure: { error, isPinned: true } };

    const intent = attemptIntent(polled, { ...good, resolution, attemptedAt: now, nextAt: later });

    assert.deepEqual(intent, {
      generation: 1,
      accepted: { ok: true },
      version: "1.2.3",
      polled: { at: now, error: `GET x: refused; it is tried again at ${later}` },
      stalled: {
        reason: "Stalled",
        message: `GET x: refused; it is tried again at ${later}`,
      },
      handled: {},
    });
  });

  test("between two polls is what came of the last one", () => {
    const earlier = { at: now, error: "refused" };

    const between = attemptIntent(polled, { ...good, earlier });
    assert.deepEqual(between.polled, earlier);
    assert.deepEqual(between.stalled, { reason: "Stalled", message: "refused" });
    assert.equal(attemptIntent(aHelmOp(), { ...good, earlier }).polled, undefined);
  });

  test("that somebody asked for and that failed is told as that, polled or not", () => {
    const resolution = { pins, failure: { error, isPinned: true } };
    const asked = { ...good, resolution, attemptedAt: now, isAsked: true, nextAt: later };
    for (const helmOp of [aHelmOp(), polled]) {
      const { accepted, stalled } = attemptIntent(helmOp, asked);
      assert.deepEqual(accepted, { ok: true });
      assert.deepEqual(stalled, {
        reason: "RequestFailed",
        message: `GET x: refused; it is tried again at ${later}`,
      });
    }
  });

  test("says what was handled, whatever came of it", () => {
    const handled = { reconcile: "one", poll: "two" };
    assert.deepEqual(attemptIntent(aHelmOp(), { ...good, handled }).handled, handled);
    assert.deepEqual(attemptIntent(aHelmOp(), { ...unpinned, handled }).handled, handled);
  });

  test("that went well is what was noted, before other remarks", () => {
    const resolution = { pins: pins.map((pin) => ({ ...pin, note: "published again" })) };

    const { accepted } = attemptIntent(aHelmOp(), { ...good, resolution, remarks: ["and this"] });

    assert.deepEqual(accepted, { ok: true, message: "published again; and this" });
  });
});

describe("what is told of a refusal", () => {
  const refusal = new AppError(chartErrors.CHART_SOURCE_INVALID, "no chart");
  const remarks = ["unknown field x"];
  const handled = { reconcile: "one" };

  test("comes before other remarks, and stalls it", () => {
    const intent = refusedIntent(aHelmOp(), refusal, {
      remarks,
      handled,
      isAsked: false,
      earlier: undefined,
    });
    assert.deepEqual(intent.accepted, { ok: false, message: "no chart; unknown field x" });
    assert.deepEqual(intent.stalled, { reason: "Stalled", message: "no chart" });
    assert.deepEqual(intent.handled, handled);
  });

  test("keeps in mind that somebody asked", () => {
    const { stalled } = refusedIntent(aHelmOp(), refusal, {
      remarks,
      handled,
      isAsked: true,
      earlier: undefined,
    });
    assert.equal(stalled?.reason, "RequestFailed");
  });

  test("leaves the last poll what it was, for as long as there is polling", () => {
    const earlier = { at: now, error: "GET x: refused" };
    const planned = { at: now, error: `GET x: refused; it is tried again at ${later}` };
    const told = { remarks, handled, isAsked: false, earlier };
    assert.deepEqual(refusedIntent(polled, refusal, told).polled, earlier);
    assert.deepEqual(refusedIntent(polled, refusal, { ...told, earlier: planned }).polled, earlier);
    assert.equal(refusedIntent(aHelmOp(), refusal, told).polled, undefined);
  });
});
