import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { aBundle, accepted, aHelmOp, decidedBundle, httpPin, now } from "../../testing/index.ts";
import { conditionOf, decided, pollFailed, settled, statusOf } from "./testing/index.ts";

const noted = [
  {
    repo: "https://charts.example.com",
    chart: "web",
    version: "~1.2",
    pin: httpPin("1.2.9"),
    note: "published again",
  },
];

describe("Accepted", () => {
  test("is False with what to change", () => {
    const condition = conditionOf(decided({ accepted: "spec.helm is empty" }), "Accepted");

    assert.equal(condition?.status, "False");
    assert.equal(condition.reason, "Invalid");
    assert.equal(condition.message, "spec.helm is empty");
  });

  test("is True with remarks", () => {
    const condition = conditionOf(decided({ ...accepted, pins: noted }), "Accepted");

    assert.equal(condition?.status, "True");
    assert.equal(condition.message, "published again");
  });
});

describe("Accepted, when the source has no digest", () => {
  const bundle = decidedBundle(aBundle(), { targets: 2, unchecked: { "s-1": "web" } });

  test("reports that clusters got different archives, after other remarks", () => {
    const archives = new Map([
      [
        "s-1",
        new Map([
          ["one", 1],
          ["other", 2],
        ]),
      ],
    ]);

    const condition = conditionOf(
      { ...decided({ ...accepted, pins: noted }), bundle, archives },
      "Accepted",
    );

    assert.equal(condition?.status, "True");
    assert.match(
      condition.message ?? "",
      /^published again; clusters got different archives of web, other in 2 clusters and one in 1 cluster; /,
    );
  });

  test("has no remark when all clusters got the same archive", () => {
    const archives = new Map([["s-1", new Map([["one", 2]])]]);

    assert.equal(conditionOf({ bundle, archives }, "Accepted")?.message, "");
  });
});

describe("Polled", () => {
  test("does not exist without polling", () => {
    assert.equal(conditionOf({}, "Polled"), undefined);
  });

  test("is removed when polling is turned off; the time of the last poll stays", () => {
    const polled = statusOf({
      ...settled,
      ...decided({ ...accepted, lastPollingTriggered: now }),
    });

    const after = statusOf({ ...settled, helmOp: aHelmOp({}, {}, polled) });

    assert.equal(findCondition(after.conditions, "Polled"), undefined);
    assert.equal(after.lastPollingTriggered, now);
  });

  test("is True after a poll, with the time of the poll", () => {
    const inputs = { ...settled, ...decided({ ...accepted, lastPollingTriggered: now }) };

    assert.equal(conditionOf(inputs, "Polled")?.status, "True");
    assert.equal(statusOf(inputs).lastPollingTriggered, now);
  });

  test("is False with the failure; Accepted and Ready stay", () => {
    const inputs = { ...settled, ...decided(pollFailed) };

    assert.equal(conditionOf(inputs, "Polled")?.status, "False");
    assert.equal(
      conditionOf(inputs, "Polled")?.message,
      "could not get a chart version: connection refused",
    );
    assert.equal(conditionOf(inputs, "Accepted")?.status, "True");
    assert.equal(conditionOf(inputs, "Ready")?.status, "True");
  });
});
