import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { aHelmOp } from "../testing/objects.ts";
import { planPoll, pollingIntervalMs } from "./polling.ts";

const helm = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const minuteMs = 60_000;
const startMs = Date.UTC(2026, 0, 1);
const start = "2026-01-01T00:00:00Z";

describe("a HelmOp", () => {
  const cases: readonly (readonly [what: string, spec: HelmOp["spec"], polled: boolean])[] = [
    ["with a constraint and an interval", { pollingInterval: "5m" }, true],
    ["without an interval", {}, false],
    ["with the interval 0", { pollingInterval: "0" }, false],
    ["with the interval 0s", { pollingInterval: "0s" }, false],
    ["with an interval below zero", { pollingInterval: "-5m" }, false],
    ["with an interval that is none", { pollingInterval: "5 minutes" }, false],
    ["that is suspended", { pollingInterval: "5m", suspend: true }, false],
    ["without a chart", { pollingInterval: "5m", helm: null }, false],
    ["with a fixed version", { pollingInterval: "5m", helm: { ...helm, version: "1.2.3" } }, false],
    [
      "with a version that begins with v",
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
      "with a fixed version, and a constraint where nothing is deployed",
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
      assert.equal(pollingIntervalMs(aHelmOp(spec)), isPolled ? 5 * minuteMs : undefined);
      assert.equal(
        planPoll(aHelmOp(spec), { lastAt: undefined, failures: 0 }, startMs).kind,
        isPolled ? "due" : "off",
      );
    });
  }
});

describe("the next poll", () => {
  const helmOp = aHelmOp({ pollingInterval: "10m" });

  /** Milliseconds from the start of the last attempt to the next. */
  function delayMs(failures: number, interval = "10m", uid = "uid-web"): number {
    const polled = aHelmOp({ pollingInterval: interval }, { uid });
    const plan = planPoll(polled, { lastAt: start, failures }, startMs);
    assert.ok(plan.kind === "later");
    return plan.inMs;
  }

  test("is at once when there was none", () => {
    assert.deepEqual(planPoll(helmOp, { lastAt: undefined, failures: 0 }, startMs), {
      kind: "due",
    });
  });

  test("is at once when the time of the last one cannot be read", () => {
    assert.deepEqual(planPoll(helmOp, { lastAt: "yesterday", failures: 0 }, startMs), {
      kind: "due",
    });
  });

  test("is counted from the start of the last one, whoever did it", () => {
    const inMs = delayMs(0);

    assert.deepEqual(planPoll(helmOp, { lastAt: start, failures: 0 }, startMs + inMs - 1), {
      kind: "later",
      inMs: 1,
    });
    assert.deepEqual(planPoll(helmOp, { lastAt: start, failures: 0 }, startMs + inMs), {
      kind: "due",
    });
  });

  test("comes within a tenth of the interval, always at the same time for the same HelmOp", () => {
    const delays = Array.from({ length: 200 }, (_, index) => delayMs(0, "10m", `uid-${index}`));

    assert.ok(delays.every((delay) => delay >= 9.5 * minuteMs && delay <= 10.5 * minuteMs));
    assert.ok(Math.max(...delays) - Math.min(...delays) > 0.5 * minuteMs, "they are spread");
    assert.equal(delayMs(0, "10m", "uid-7"), delays[7]);
  });

  test("doubles with each failure after the first", () => {
    const once = delayMs(0, "30s");

    assert.deepEqual(
      [1, 2, 3, 4].map((failures) => Math.round(delayMs(failures, "30s") / once)),
      [1, 2, 4, 8],
    );
  });

  test("is never later than a quarter of an hour because of failures", () => {
    assert.equal(delayMs(50, "1m"), 15 * minuteMs);
  });

  test("keeps an interval that is longer than that, however many failures there were", () => {
    assert.equal(delayMs(50, "2h"), delayMs(0, "2h"));
  });

  test("is never less than a second later, as times are kept in whole seconds", () => {
    assert.equal(delayMs(0, "5ms"), 1_000);
    assert.ok(delayMs(0, "1s") >= 1_000);
  });

  test("is at once after the clock went far ahead, and not before its time when it went back", () => {
    assert.equal(planPoll(helmOp, { lastAt: start, failures: 0 }, startMs + 1e9).kind, "due");
    assert.equal(planPoll(helmOp, { lastAt: start, failures: 0 }, startMs - 1e6).kind, "later");
  });
});
