import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { encrypt } from "./encryption.ts";
import { createLoginCookies, type LoginContent } from "./login-cookies.ts";

const flow: LoginContent = {
  ...{ kind: "flow", state: "s", nonce: "n", verifier: "v" },
  returnPath: "/apps?state=failed",
};
const failure: LoginContent = { kind: "failure", code: "LOGIN_FAILED", message: "Größe" };
const minuteMs = 60_000;

function setUp() {
  const clock = createFakeClock();
  const key = { id: "k", key: randomBytes(32) };
  const cookies = createLoginCookies({ keys: { get: () => Promise.resolve([key]) }, clock });
  const write = async (content: LoginContent) => (await cookies.write(content)).split(";")[0] ?? "";
  return { clock, key, cookies, write };
}

describe("the state of a login", () => {
  const rows: readonly (readonly [content: LoginContent, validMs: number])[] = [
    [flow, 10 * minuteMs],
    [failure, minuteMs],
  ];
  for (const [content, validMs] of rows)
    test(`of kind ${content.kind} is read until it has expired`, async () => {
      const { clock, cookies, write } = setUp();
      const cookie = await write(content);

      assert.ok(!cookie.includes("returnPath") && cookie.length < 4_000);
      assert.match(await cookies.write(content), new RegExp(`; Max-Age=${validMs / 1_000};`));
      clock.advanceNow(validMs - 1);
      assert.deepEqual(await cookies.read(`other=1; ${cookie}`), content);
      clock.advanceNow(1);
      assert.equal(await cookies.read(cookie), undefined);
    });

  test("is none without a cookie, of another hub, or of a session", async () => {
    const { key, cookies, write } = setUp();
    const [name = ""] = (await write(flow)).split("=");
    const session = encrypt(JSON.stringify({ content: flow, expiresAtMs: 1e15 }), key, "session");
    const foreign = await setUp().write(flow);

    for (const cookie of [undefined, "", foreign, `${name}=${session}`, `${name}=x`])
      assert.equal(await cookies.read(cookie), undefined);
  });

  test("has a message that a cookie can have", async () => {
    const { cookies, write } = setUp();
    const cookie = await write({ ...failure, message: "é".repeat(10_000) });
    assert.ok(cookie.length < 4_000);
    assert.match((await cookies.read(cookie))?.kind ?? "", /failure/);
  });
});
