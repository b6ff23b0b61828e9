/** Events that depend on the object beside its status. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { type ReleaseStatus, releaseEvents } from "./status-events.ts";
import { condition, failing, installed, status, upgradeFailed } from "./testing/index.ts";

const helmOp = aHelmOp();

describe("the events of an object that is being deleted", () => {
  const deleted = { ...helmOp, metadata: { ...helmOp.metadata, deletionTimestamp: "2026" } };
  const failed = condition("Ready", "False", "UninstallFailed", "oslo: hook failed");
  const other = condition("Ready", "False", "UninstallFailed", "oslo: timed out");
  const rows: readonly (readonly [
    what: string,
    before: ReleaseStatus,
    after: ReleaseStatus,
    expected: readonly string[],
  ])[] = [
    ["are none while it is uninstalled", failing(1), status([installed]), []],
    [
      "have the first failure",
      status([installed]),
      status([installed, failed]),
      ["Warning UninstallFailed"],
    ],
    ["have it once", status([failed]), failing(1, [failed]), []],
    ["have another failure", status([failed]), status([other]), ["Warning UninstallFailed"]],
  ];
  test.each(rows)("%s", (_, before, after, expected) =>
    assert.deepEqual(
      releaseEvents(deleted, before, after).map(({ type, reason }) => `${type} ${reason}`),
      expected,
    ),
  );
});

test("an event has the chart with Flux's keys", () => {
  const chart = { version: "1.1.0", appVersion: "2.0", ociDigest: "sha256:ab" };
  const [event] = releaseEvents(helmOp, undefined, { ...status([installed]), ...chart });
  assert.deepEqual(event?.metadata, {
    "fleet.cattle.io/revision": "1.1.0",
    "fleet.cattle.io/app-version": "2.0",
    "fleet.cattle.io/oci-digest": "sha256:ab",
    "fleet.cattle.io/clusters": "3 of 3 ready",
  });
});

describe("the events of a HelmRelease that Helm is not run for", () => {
  const release = { ...helmOp, kind: "HelmRelease" };
  const ready = (reason: string, message = "why") => condition("Ready", "False", reason, message);
  const denied = (message: string) => [
    ready("AccessDenied", message),
    condition("Accepted", "False", "AccessDenied", message),
  ];
  const rows: readonly (readonly [
    what: string,
    before: ReleaseStatus | undefined,
    after: ReleaseStatus,
    expected: readonly string[],
  ])[] = [
    ["say why the hub rejects it", undefined, status(denied("a")), ["Warning AccessDenied"]],
    ["say it once", status(denied("a")), status(denied("a")), []],
    ["say what else", status(denied("a")), status(denied("b")), ["Warning AccessDenied"]],
    [
      "say that its values cannot be made, in place of what Helm did last",
      status([upgradeFailed]),
      failing(1, [upgradeFailed, ready("ValuesError")]),
      ["Warning ValuesError"],
    ],
    [
      "are no more for another attempt of an agent",
      failing(1, [ready("ValuesError", "retrying at 1")]),
      failing(1, [ready("ValuesError", "retrying at 2")]),
      [],
    ],
    [
      "say that it waits for another, which is not a failure",
      undefined,
      status([ready("DependencyNotReady")], { waitApplied: 1 }),
      ["Normal DependencyNotReady"],
    ],
  ];
  test.each(rows)("%s", (_, before, after, expected) =>
    assert.deepEqual(
      releaseEvents(release, before, after).map(({ type, reason }) => `${type} ${reason}`),
      expected,
    ),
  );

  test("are not those of a HelmOp, which has its own", () =>
    assert.deepEqual(releaseEvents(helmOp, undefined, status([ready("ArtifactFailed")])), []));
});
