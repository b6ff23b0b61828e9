import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import {
  loginCookie,
  loginTextOf,
  noSessionCookies,
  sessionCookies,
  sessionTextOf,
} from "./cookies.ts";
import { decrypt, encrypt } from "./encryption.ts";
import { keyLifeMs, maxSessionMs, rotated } from "./key-rotation.ts";

const key = (id: string) => ({ id, key: randomBytes(32) });

describe("an encrypted session", () => {
  test("is read with any of the keys, and with no other", () => {
    const [old, fresh] = [key("old"), key("new")];
    const text = encrypt("secret é", old, "session");

    assert.equal(decrypt(text, [fresh, old], "session"), "secret é");
    assert.equal(decrypt(text, [fresh], "session"), undefined);
    assert.equal(decrypt(text, [{ ...fresh, id: "old" }], "session"), undefined);
    assert.equal(decrypt(text, [old], "login"), undefined);
    assert.ok(!text.includes("secret"));
  });

  test("is not read when a single bit was changed", () => {
    const own = key("a");
    const [, encoded = ""] = encrypt("secret", own, "session").split(".");
    const bytes = Buffer.from(encoded, "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.equal(decrypt(`a.${changed.toString("base64url")}`, [own], "session"), undefined);
    }
    for (const text of ["", ".", "a.", "a.AA", "b.AAAA"])
      assert.equal(decrypt(text, [own], "session"), undefined);
  });
});

describe("the cookies of a session", () => {
  test("take texts of up to three of them", () => {
    for (const length of [1, 3_800, 3_801, 11_400]) {
      const text = "x".repeat(length);
      const header = sessionCookies(text, 60)
        .map((cookie) => cookie.split(";")[0])
        .join("; ");
      assert.equal(sessionTextOf(`other=1; ${header}`), text);
    }
    assert.throws(() => sessionCookies("x".repeat(11_401), 60), { code: "SESSION_TOO_LARGE" });
    assert.equal(sessionTextOf(undefined), undefined);
    assert.equal(sessionTextOf("other=1"), undefined);
  });

  test("are for this host alone, and for no script", () => {
    const cookies = [...sessionCookies("x", 60), ...noSessionCookies()];
    for (const cookie of cookies.filter((each) => !each.startsWith("__Host-flotilla-login=;")))
      assert.match(
        cookie,
        /^__Host-flotilla-session(-\d)?=x?; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      );
    assert.ok(noSessionCookies().every((cookie) => cookie.includes("Max-Age=0")));
  });
});

describe("the cookie of a login", () => {
  test("is sent when another site redirects the browser back, and no script can read it", () => {
    const cookie = loginCookie("x", 60);
    assert.equal(
      cookie,
      "__Host-flotilla-login=x; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax",
    );
    assert.match(loginCookie("", 60), /=; Max-Age=0; /);
    for (const cookies of [sessionCookies("x", 60), noSessionCookies()])
      assert.equal(cookies.at(-1), loginCookie("", 0));
    assert.equal(loginTextOf("a=b; __Host-flotilla-login=x"), "x");
    for (const header of [undefined, "a=b", "__Host-flotilla-login="])
      assert.equal(loginTextOf(header), undefined);
  });
});

describe("the keys of sessions", () => {
  const at = (id: string, createdAtMs: number) => ({ ...key(id), createdAtMs });
  const ids = (keys: ReturnType<typeof rotated>) => keys?.map(({ id }) => id);

  test("are replaced when the newest has encrypted for a day", () => {
    assert.equal(
      rotated([at("a", 0)], keyLifeMs - 1, () => key("b")),
      undefined,
    );
    assert.deepEqual(ids(rotated([at("a", 0)], keyLifeMs, () => key("b"))), ["b", "a"]);
  });

  test("are kept until the last session that they encrypted has ended", () => {
    const keys = [at("b", keyLifeMs), at("a", 0)];
    const now = keyLifeMs + maxSessionMs;
    assert.deepEqual(ids(rotated(keys, now - 1, () => key("c"))), undefined);
    assert.deepEqual(ids(rotated(keys, now, () => key("c"))), ["c", "b"]);
  });
});
