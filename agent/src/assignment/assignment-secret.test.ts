import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { assignmentSecret, type HeldAssignment, heldAssignment } from "./assignment-secret.ts";

const held: HeldAssignment = {
  owner: { name: "web", uid: "u" },
  deploymentId: "sha256:1",
  content: Buffer.from([0, 255, 31, 139]),
  paused: true,
  withdrawing: false,
};

describe("an assignment in its Secret", () => {
  for (const [paused, withdrawing] of [
    [false, false],
    [true, false],
    [false, true],
  ] as const) {
    test(`comes back as it was stored, paused ${paused}, withdrawing ${withdrawing}`, () => {
      const assignment = { ...held, paused, withdrawing };

      assert.deepEqual(heldAssignment(assignmentSecret(assignment)), assignment);
    });
  }

  test("has a name that Kubernetes takes, its own for every deployment however long", () => {
    const names = ["a", "b"].map(
      (end) =>
        assignmentSecret({ ...held, owner: { name: `${"x".repeat(252)}${end}`, uid: "u" } })
          .metadata.name,
    );

    assert.equal(new Set(names).size, 2);
    for (const name of names) assert.match(name, /^assignment-[-a-z0-9]{1,242}$/);
  });

  test("is none when a part of it is missing", () => {
    const secret = assignmentSecret(held);

    assert.equal(heldAssignment({ ...secret, data: {} }), undefined);
    assert.equal(heldAssignment({ ...secret, metadata: { name: "s" } }), undefined);
  });
});
