import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Assignment, assignmentSecret, parseAssignment } from "./assignment-secret.ts";

const plain: Assignment = {
  owner: { name: "web", uid: "u" },
  deploymentId: "sha256:1",
  content: Buffer.from([0, 255, 31, 139]),
  paused: true,
  withdrawing: false,
};

describe("the Secret of an assignment", () => {
  for (const [paused, withdrawing] of [
    [false, false],
    [true, false],
    [false, true],
  ] as const) {
    test(`is parsed back unchanged: paused ${paused}, withdrawing ${withdrawing}`, () => {
      const assignment = { ...plain, paused, withdrawing };

      assert.deepEqual(parseAssignment(assignmentSecret(assignment)), assignment);
    });
  }

  test("is parsed back as lost if what was installed must be looked for", () => {
    const assignment: Assignment = { ...plain, withdrawing: true, lost: true };

    assert.deepEqual(parseAssignment(assignmentSecret(assignment)), assignment);
  });

  test("has a valid and unique name even if the deployment's name is long", () => {
    const names = ["a", "b"].map(
      (end) =>
        assignmentSecret({ ...plain, owner: { name: `${"x".repeat(252)}${end}`, uid: "u" } })
          .metadata.name,
    );

    assert.equal(new Set(names).size, 2);
    for (const name of names) assert.match(name, /^assignment-[-a-z0-9]{1,242}$/);
  });

  test("is not parsed if a part is missing", () => {
    const secret = assignmentSecret(plain);

    assert.equal(parseAssignment({ ...secret, data: {} }), undefined);
    assert.equal(parseAssignment({ ...secret, metadata: { name: "s" } }), undefined);
  });
});
