import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { actionsOf, commandOf, patchOf, whyNotOffered, whyWithoutEffect } from "./actions.ts";

const helmOp = { kind: "HelmOp", namespace: "shop", name: "web" } as const;
const active = { isSuspended: false, isPolled: true };
const now = "2026-01-01T00:00:00Z";

describe("an action", () => {
  test("is offered for the kinds that have it", () => {
    const forApps = ["reconcile", "correct-drift", "retry", "force", "suspend"];
    assert.deepEqual(actionsOf(helmOp, active), ["poll", ...forApps]);
    assert.deepEqual(actionsOf({ ...helmOp, kind: "HelmRelease" }, active), forApps);
    assert.deepEqual(actionsOf({ ...helmOp, kind: "HelmRepository" }, active), ["poll", "suspend"]);
  });

  test("polls a HelmOp only if it is polled", () => {
    const state = { ...active, isPolled: false };
    assert.ok(!actionsOf(helmOp, state).includes("poll"));
    assert.match(whyNotOffered("poll", helmOp, state) ?? "", /^it is not polled: .* reconcile it/);
    assert.equal(whyNotOffered("poll", helmOp, active), undefined);
  });

  test("only resumes what is suspended, whose other actions have no effect", () => {
    const state = { ...active, isSuspended: true };
    for (const kind of ["HelmOp", "HelmRelease", "Bundle", "Bucket"] as const)
      assert.deepEqual(actionsOf({ ...helmOp, kind }, state), ["resume"]);
    for (const action of ["poll", "reconcile", "correct-drift", "retry", "force"] as const)
      assert.equal(whyNotOffered(action, helmOp, state), "it is suspended; resume it first");
    assert.equal(whyNotOffered("suspend", helmOp, state), "it is suspended already");
    assert.equal(whyNotOffered("resume", helmOp, active), "it is not suspended");
  });

  test("that corrects drift would change nothing without drift", () => {
    assert.equal(
      whyWithoutEffect("correct-drift", { hasDrift: false }),
      "no drift was found in the objects of its releases",
    );
    assert.equal(whyWithoutEffect("correct-drift", { hasDrift: true }), undefined);
    for (const action of ["reconcile", "retry", "force", "suspend"] as const)
      assert.equal(whyWithoutEffect(action, { hasDrift: false }), undefined);
  });

  test("is rejected for a kind that does not have it", () => {
    const bucket = { ...helmOp, kind: "Bucket" } as const;
    assert.equal(whyNotOffered("force", bucket, active), "a Bucket has no such action");
  });

  test("is a patch of annotations or of spec.suspend", () => {
    const at = "reconcile.fluxcd.io";
    const rows = [
      ["poll", { metadata: { annotations: { "flotilla.dev/poll-requested-at": now } } }],
      ["reconcile", { metadata: { annotations: { [`${at}/requestedAt`]: now } } }],
      [
        "correct-drift",
        {
          metadata: {
            annotations: { [`${at}/requestedAt`]: now, "flotilla.dev/correct-drift-at": now },
          },
        },
      ],
      [
        "retry",
        { metadata: { annotations: { [`${at}/requestedAt`]: now, [`${at}/resetAt`]: now } } },
      ],
      [
        "force",
        { metadata: { annotations: { [`${at}/requestedAt`]: now, [`${at}/forceAt`]: now } } },
      ],
      ["suspend", { spec: { suspend: true } }],
      ["resume", { spec: { suspend: false } }],
    ] as const;
    for (const [action, patch] of rows) assert.deepEqual(patchOf(action, helmOp, now), patch);
    assert.deepEqual(patchOf("poll", { ...helmOp, kind: "GitRepository" }, now), {
      metadata: { annotations: { [`${at}/requestedAt`]: now } },
    });
  });

  test("has a command that does the same", () => {
    const rows = [
      [helmOp, "reconcile", "flotilla reconcile helmop web -n shop"],
      [helmOp, "correct-drift", "flotilla reconcile helmop web -n shop --correct-drift"],
      [helmOp, "retry", "flotilla reconcile helmop web -n shop --reset"],
      [helmOp, "force", "flotilla reconcile helmop web -n shop --force"],
      [helmOp, "poll", "flotilla reconcile helmop web -n shop --poll"],
      [helmOp, "suspend", "flotilla suspend helmop web -n shop"],
      [
        { ...helmOp, kind: "HelmRelease" },
        "force",
        "flotilla reconcile helmrelease web -n shop --force",
      ],
      [{ ...helmOp, kind: "HelmRelease" }, "resume", "flotilla resume helmrelease web -n shop"],
      [
        { ...helmOp, kind: "OCIRepository" },
        "poll",
        "flotilla reconcile ocirepository web -n shop",
      ],
      [{ ...helmOp, kind: "Bundle" }, "retry", "flotilla reconcile bundle web -n shop --reset"],
    ] as const;
    for (const [target, action, command] of rows) assert.equal(commandOf(action, target), command);
  });
});
