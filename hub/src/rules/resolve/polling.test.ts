import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aRelease } from "../../testing/index.ts";
import { type Moment, planPoll, pollingIntervalMs } from "./polling.ts";

const helm = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const minuteMs = 60_000;
const startMs = Date.UTC(2026, 0, 1);
const start = "2026-01-01T00:00:00Z";

function at(nowMs: number): Moment {
  return { nowMs, hub: "one" };
}

describe("a HelmOp", () => {
  const cases: readonly (readonly [what: string, spec: HelmOp["spec"], polled: boolean])[] = [
    ["with a constraint and an interval", { pollingInterval: "5m" }, true],
    ["without an interval", {}, false],
    ["with the interval 0", { pollingInterval: "0" }, false],
    ["with the interval 0s", { pollingInterval: "0s" }, false],
    ["with an interval below zero", { pollingInterval: "-5m" }, false],
    ["with an invalid interval", { pollingInterval: "5 minutes" }, false],
    ["that is suspended", { pollingInterval: "5m", suspend: true }, false],
    ["without a chart", { pollingInterval: "5m", helm: null }, false],
    ["with a fixed version", { pollingInterval: "5m", helm: { ...helm, version: "1.2.3" } }, false],
    [
      "with a version that starts with v",
      { pollingInterval: "5m", helm: { ...helm, version: "v1.2.3" } },
      true,
    ],
    ["without a version", { pollingInterval: "5m", helm: { ...helm, version: "" } }, true],
    [
      "with an archive",
      { pollingInterval: "5m", helm: { chart: "https://x.example/a.TGZ" } },
      false,
    ],
    [
      "with a fixed version, and a constraint in a target",
      {
        pollingInterval: "5m",
        helm: { ...helm, version: "1.2.3" },
        targets: [{ helm: { version: "~1.3" } }],
      },
      true,
    ],
    [
      "with a fixed version, and a constraint in a target that deploys nothing",
      {
        pollingInterval: "5m",
        helm: { ...helm, version: "1.2.3" },
        targets: [{ helm: { version: "~1.3" }, doNotDeploy: true }],
      },
      false,
    ],
  ];
  for (const [what, spec, isPolled] of cases) {
    test(`${what} is ${isPolled ? "polled" : "not polled"}`, () => {
      assert.equal(pollingIntervalMs(aRelease(spec)), isPolled ? 5 * minuteMs : undefined);
      assert.equal(
        planPoll(aRelease(spec), { lastAt: undefined, failures: 0 }, at(startMs)).kind,
        isPolled ? "due" : "off",
      );
    });
  }
});

describe("the next poll", () => {
  const release = aRelease({ pollingInterval: "10m" });

  /** Milliseconds from the start of the last attempt to the next. */
  function delayMs(failures: number, interval = "10m", repo = helm.repo, lastMs = startMs): number {
    const polled = aRelease({ pollingInterval: interval, helm: { ...helm, repo } });
    const lastAt = new Date(lastMs).toISOString();
    const plan = planPoll(polled, { lastAt, failures }, at(lastMs));
    assert.ok(plan.kind === "later");
    return plan.inMs;
  }

  test("is at once when there was none", () => {
    assert.deepEqual(planPoll(release, { lastAt: undefined, failures: 0 }, at(startMs)), {
      kind: "due",
      isFirst: true,
    });
  });

  test("is at once when the time of the last one is invalid", () => {
    assert.deepEqual(planPoll(release, { lastAt: "yesterday", failures: 0 }, at(startMs)), {
      kind: "due",
      isFirst: true,
    });
  });

  test("is due at its time, however often that is computed, and by any leader", () => {
    const inMs = delayMs(0);
    const history = { lastAt: start, failures: 0 };

    assert.deepEqual(planPoll(release, history, at(startMs + inMs - 1)), {
      kind: "later",
      inMs: 1,
    });
    assert.deepEqual(planPoll(release, history, at(startMs + inMs)), {
      kind: "due",
      isFirst: false,
    });
  });

  test("comes within the interval, and after that once in each", () => {
    const first = delayMs(0);
    assert.ok(first > 0 && first <= 10 * minuteMs);
    assert.equal(delayMs(0, "10m", helm.repo, startMs + first), 10 * minuteMs);
  });

  test("is at the same time for all HelmOps of a repository, with any time of the last poll", () => {
    const next = startMs + delayMs(0);
    for (let lastMs = startMs; lastMs < next; lastMs += 7_000)
      assert.equal(lastMs + delayMs(0, "10m", helm.repo, lastMs), next);
    assert.equal(delayMs(0, "10m", `${helm.repo}/`), next - startMs);
  });

  test("is spread over the whole interval for different repositories, and for different hubs", () => {
    const delays = Array.from({ length: 200 }, (_, index) => delayMs(0, "10m", `https://${index}`));
    assert.ok(Math.max(...delays) - Math.min(...delays) > 9 * minuteMs);
    assert.ok(new Set(delays).size > 150);
    const other = { nowMs: startMs, hub: "two" };
    assert.notDeepEqual(
      planPoll(release, { lastAt: start, failures: 0 }, other),
      planPoll(release, { lastAt: start, failures: 0 }, at(startMs)),
    );
  });

  test("coincides with that of a longer interval", () => {
    const long = startMs + delayMs(0, "1h");
    assert.equal(long + delayMs(0, "10m", helm.repo, long - 1_000) - 1_000, long);
  });

  test("is delayed twice as long with each failure after the first", () => {
    const first = startMs + delayMs(0, "30s");
    const delays = [1, 2, 3, 4].map((failures) => delayMs(failures, "30s", helm.repo, first));
    assert.deepEqual(delays, [30_000, 60_000, 120_000, 240_000]);
  });

  test("is delayed by failures for at most 15 minutes", () => {
    const slot = startMs + delayMs(0, "1m");
    assert.equal(delayMs(50, "1m", helm.repo, slot), 15 * minuteMs);
  });

  test("keeps a longer interval than that, with any number of failures", () => {
    assert.equal(delayMs(50, "2h"), delayMs(0, "2h"));
  });

  test("is never twice in the same second, as times have whole seconds", () => {
    for (const interval of ["5ms", "1s", "1.4s"])
      for (const lastMs of [startMs, startMs + 1_000])
        assert.equal(delayMs(0, interval, helm.repo, lastMs), 1_000);
  });

  test("is at once after the clock was set far ahead or back, and at its time when it was set back a little", () => {
    const history = { lastAt: start, failures: 0 };
    assert.equal(planPoll(release, history, at(startMs + 1e9)).kind, "due");
    assert.equal(planPoll(release, history, at(startMs - 1e9)).kind, "due");
    assert.deepEqual(planPoll(release, history, at(startMs - 60_000)), {
      kind: "later",
      inMs: delayMs(0) + 60_000,
    });
  });
});
