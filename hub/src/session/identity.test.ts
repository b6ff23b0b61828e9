import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { checkIdentity } from "./identity.ts";

describe("the hub impersonates", () => {
  const impersonated: readonly (readonly [user: string, groups: readonly string[]])[] = [
    ["anna", []],
    ["https://login.example.com#248289761001", ["dev", "Flotte Süd", "a,b", "/dev/leads"]],
    ["anna@example.com", ["oidc:system:masters", "SYSTEM:masters", "mysystem:x"]],
  ];
  for (const [user, groups] of impersonated)
    test(`${user} in ${JSON.stringify(groups)}`, () => checkIdentity({ user, groups }));
});

describe("the hub does not impersonate", () => {
  const refused: readonly (readonly [
    what: string,
    user: string,
    groups: readonly string[],
    RegExp,
  ])[] = [
    ["a user of Kubernetes", "system:admin", [], /says that you are system:admin;/],
    ["a service account", "system:serviceaccount:a:b", [], /system:serviceaccount:a:b/],
    ["a group of Kubernetes", "anna", ["dev", "system:masters"], /a member of system:masters;/],
    ["even a group that every user has", "anna", ["system:authenticated"], /system:authenticated/],
    ["a user without a name", "", [], /your user is "": .* empty/],
    ["a group without a name", "anna", [""], /your group is ""/],
    // A header loses them on the way.
    ["a space before a group", "anna", [" system:masters"], /your group is " system:masters"/],
    ["a tab before a user", "\tsystem:admin", [], /your user is "\\tsystem:admin"/],
    ["a space after a user", "admin ", [], /your user is "admin "/],
    ["another line in a name", "anna", ["a\r\nImpersonate-Group: b"], /your group is "a\\r\\n/],
  ];
  for (const [what, user, groups, message] of refused)
    test(what, () =>
      assert.throws(() => checkIdentity({ user, groups }), { code: "IDENTITY_REJECTED", message }),
    );

  test("a name that is long, whose message is short", () =>
    assert.throws(() => checkIdentity({ user: `system:${"x".repeat(10_000)}`, groups: [] }), {
      message: /^.{200,400}$/,
    }));
});
