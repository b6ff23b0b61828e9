import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { eventKey, objectName, reasonWords, toObservedEvent } from "./event.ts";

const reporter = { controller: "flotilla.dev/hub", instance: "hub-0" };
const nowMs = Date.UTC(2026, 0, 1);
const note = {
  type: "Warning",
  reason: "UpgradeFailed",
  action: "ReconcileRelease",
  note: "1 of 3 clusters failed",
  metadata: {
    "fleet.cattle.io/revision": "1.2.3",
    "fleet.cattle.io/digest": "sha256:1",
    "fleet.cattle.io/checksum": "2",
    "fleet.cattle.io/token": "3",
    "other.example.com/key": "4",
    plain: "5",
  },
} as const;

describe("an event", () => {
  test("has the shape of Flux's, with the controller's metadata without prefix", () => {
    const helmOp = aHelmOp(
      {},
      {
        labels: { team: "web" },
        annotations: { "event.toolkit.fluxcd.io/env": "prod", other: "1" },
      },
    );

    assert.deepEqual(toObservedEvent(helmOp, note, reporter, nowMs), {
      event: {
        involvedObject: {
          apiVersion: "fleet.cattle.io/v1alpha1",
          kind: "HelmOp",
          name: "web",
          namespace: "fleet-default",
          uid: "uid-web",
        },
        severity: "error",
        timestamp: "2026-01-01T00:00:00Z",
        message: "1 of 3 clusters failed",
        reason: "UpgradeFailed",
        metadata: { revision: "1.2.3" },
        reportingController: "flotilla.dev/hub",
        reportingInstance: "hub-0",
      },
      labels: { team: "web" },
      annotated: { env: "prod" },
      token: "3",
    });
  });

  test("is cut at Flux's limit", () => {
    const long = { ...note, note: "x".repeat(50_000) };

    assert.equal(toObservedEvent(aHelmOp(), long, reporter, nowMs).event.message.length, 39_000);
  });

  const of = (changes: object) =>
    eventKey(toObservedEvent(aHelmOp(), { ...note, ...changes }, reporter, nowMs));
  test("is the same with another severity, reason or time", () => {
    assert.equal(of({ type: "Normal", reason: "Other" }), of({}));
    assert.equal(eventKey(toObservedEvent(aHelmOp(), note, reporter, nowMs + 60_000)), of({}));
  });

  for (const [what, changes] of [
    ["message", { note: "other" }],
    ["revision", { metadata: { ...note.metadata, "fleet.cattle.io/revision": "2" } }],
    ["origin revision", { metadata: { ...note.metadata, "fleet.cattle.io/originRevision": "2" } }],
    ["token", { metadata: { ...note.metadata, "fleet.cattle.io/token": "4" } }],
  ] as const)
    test(`is another one with another ${what}`, () => {
      assert.notEqual(of(changes), of({}));
    });

  test("names its object, and its reason in words", () => {
    assert.equal(
      objectName(toObservedEvent(aHelmOp(), note, reporter, nowMs).event),
      "helmop/web.fleet-default",
    );
    assert.equal(reasonWords("UpgradeFailed"), "upgrade failed");
    assert.equal(reasonWords("GotNewChartVersion"), "got new chart version");
  });
});
