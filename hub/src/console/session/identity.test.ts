import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { configMaps } from "@flotilla/shared/kube/objects";
import { connected } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { checkIdentity, type Identity } from "./identity.ts";
import { createSessions } from "./sessions.ts";

const ref = { namespace: "default", name: "settings" };

/** The credentials of a session, as its cookie has them. */
async function sessionOf(identity: Identity) {
  const keys = [{ id: "k", key: randomBytes(32) }];
  const sessions = createSessions({
    keys: { get: () => Promise.resolve(keys) },
    access: { userOf: () => assert.fail("no token is reviewed") },
    clock: createFakeClock(),
  });
  const { cookies } = await sessions.loginAs(identity, Number.POSITIVE_INFINITY);
  const read = await sessions.read(cookies.map((cookie) => cookie.split(";")[0]).join("; "));
  assert.ok(read?.credentials.kind === "impersonation");
  return read.credentials;
}

describe("the hub impersonates", () => {
  const impersonated: readonly (readonly [user: string, groups: readonly string[]])[] = [
    ["anna", []],
    ["https://login.example.com#248289761001", ["dev", "Flotte Süd", "a,b", "/dev/leads"]],
    ["anna@example.com", ["oidc:system:masters", "SYSTEM:masters", "mysystem:x"]],
  ];
  for (const [user, groups] of impersonated)
    test(`${user} in ${JSON.stringify(groups)}, under exactly these names`, async (t) => {
      const { rest, server } = await connected(t);

      const credentials = await sessionOf({ user, groups });
      await rest.as(credentials).get(configMaps, ref);

      assert.deepEqual(credentials, { kind: "impersonation", user, groups });
      const { headers } = server.requests[0] ?? {};
      const sent = (name: string): string =>
        Buffer.from(String(headers?.[name] ?? ""), "latin1").toString("utf8");
      assert.equal(sent("impersonate-user"), user);
      assert.equal(sent("impersonate-group"), groups.join(", "));
    });
});

describe("the hub does not impersonate", () => {
  const rejected: readonly (readonly [
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
  for (const [what, user, groups, message] of rejected)
    test(what, () =>
      assert.throws(() => checkIdentity({ user, groups }), { code: "IDENTITY_REJECTED", message }),
    );

  test("a name that is long, whose message is short", () =>
    assert.throws(() => checkIdentity({ user: `system:${"x".repeat(10_000)}`, groups: [] }), {
      message: /^.{200,400}$/,
    }));
});
