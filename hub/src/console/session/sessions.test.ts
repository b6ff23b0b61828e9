import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { User } from "../access/reviews.ts";
import { createSessions } from "./sessions.ts";

const user: User = { username: "alice", uid: "1", groups: ["g"], extra: {} };
const hourMs = 3_600_000;

function jwt(claims: Readonly<Record<string, unknown>>): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
}

function setUp() {
  const clock = createFakeClock();
  const accepted = new Set<string>();
  const keys = [{ id: "k", key: randomBytes(32) }];
  const sessions = createSessions({
    keys: { get: () => Promise.resolve(keys) },
    access: { userOf: (token) => Promise.resolve(accepted.has(token) ? user : undefined) },
    clock,
  });
  const cookieOf = (cookies: readonly string[]) =>
    cookies.map((cookie) => cookie.split(";")[0]).join("; ");
  return { clock, accepted, keys, sessions, cookieOf };
}

describe("a session", () => {
  test("ends with its token, and at the latest after a day", async () => {
    const { clock, accepted, sessions, cookieOf } = setUp();
    const inTwoHours = jwt({ exp: (clock.now() + 2 * hourMs) / 1_000 });
    accepted.add(inTwoHours).add("opaque");

    const short = await sessions.login(inTwoHours);
    const long = await sessions.login("opaque");

    assert.equal(short.session.expiresAtMs, clock.now() + 2 * hourMs);
    assert.equal(long.session.expiresAtMs, clock.now() + 24 * hourMs);
    assert.equal((await sessions.read(cookieOf(short.cookies)))?.user.username, "alice");
    clock.advanceNow(2 * hourMs);
    assert.equal(await sessions.read(cookieOf(short.cookies)), undefined);
    assert.equal((await sessions.read(cookieOf(long.cookies)))?.user.username, "alice");
  });

  test("ends when the API server does not accept its token any more", async () => {
    const { accepted, sessions, cookieOf } = setUp();
    accepted.add("token");
    const { cookies, session } = await sessions.login("token");
    assert.deepEqual(session.credentials, { kind: "token", token: "token" });

    accepted.delete("token");

    assert.equal(await sessions.read(cookieOf(cookies)), undefined);
  });

  test("of an impersonated user has the group that the API server adds, and ends at the given time", async () => {
    const { clock, sessions, cookieOf } = setUp();
    const identity = { user: "oidc:anna", groups: ["Flotte Süd"] };

    const { session, cookies } = await sessions.loginAs(identity, clock.now() + hourMs);

    assert.deepEqual(session.credentials, { kind: "impersonation", ...identity });
    assert.deepEqual(session.user, {
      ...{ username: "oidc:anna", uid: "", extra: {} },
      groups: ["Flotte Süd", "system:authenticated"],
    });
    assert.deepEqual(await sessions.read(cookieOf(cookies)), session);
    clock.advanceNow(hourMs);
    assert.equal(await sessions.read(cookieOf(cookies)), undefined);
    const long = await sessions.loginAs(identity, Number.POSITIVE_INFINITY);
    assert.equal(long.session.expiresAtMs, clock.now() + 24 * hourMs);
  });

  test("does not begin as a user or in a group of Kubernetes", async () => {
    const { sessions } = setUp();
    const groups = ["system:masters"];
    await assert.rejects(sessions.loginAs({ user: "anna", groups }, 1e15), {
      code: "IDENTITY_REJECTED",
    });
  });

  test("does not begin with a token that the API server does not accept", async () => {
    const { sessions } = setUp();
    await assert.rejects(sessions.login("bad"), { code: "LOGIN_FAILED" });
  });

  test("is none without a cookie, or with one of another hub", async () => {
    const { accepted, sessions, keys, cookieOf } = setUp();
    accepted.add("token");
    const { cookies } = await sessions.login("token");
    keys.splice(0, 1, { id: "k", key: randomBytes(32) });

    for (const cookie of [undefined, "", "__Host-flotilla-session=x", cookieOf(cookies)])
      assert.equal(await sessions.read(cookie), undefined);
  });
});
