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

  const verification = { diff: "d", at: "t", key: Buffer.from("the key of the plans") };

  test("is parsed back with what was approved, whose key is in no annotation", () => {
    const assignment: Assignment = { ...plain, verification };

    const secret = assignmentSecret(assignment);

    assert.deepEqual(parseAssignment(secret), assignment);
    const annotations = JSON.stringify(secret.metadata);
    for (const encoding of ["utf8", "base64", "hex"] as const)
      assert.ok(!annotations.includes(verification.key.toString(encoding)));
  });

  test("is not parsed without what has to be verified: nothing may be installed then", () => {
    const secret = assignmentSecret({ ...plain, verification });
    const { metadata, data = {} } = secret;
    const { "verification-key": _, ...content } = data;
    const annotations = { ...metadata.annotations, "flotilla.dev/verification": "{" };

    assert.equal(parseAssignment({ ...secret, data: content }), undefined);
    assert.equal(parseAssignment({ ...secret, metadata: { ...metadata, annotations } }), undefined);
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
