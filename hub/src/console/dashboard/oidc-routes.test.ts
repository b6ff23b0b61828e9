import assert from "node:assert/strict";
import { lineLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Hono } from "hono";
import { describe, test } from "vitest";
import type { OidcLogin } from "../oidc/index.ts";
import type { LoginCookies } from "../session/login-cookies.ts";
import type { Env } from "./context.ts";
import { oidcRoutes } from "./oidc-routes.ts";

type LoginContent = Parameters<LoginCookies["write"]>[0];

const callback = "/api/v1/login/oidc/callback?code=c&state=s";

/** Browsers at one address, without the cookie of a login. */
function setUp() {
  const lines: string[] = [];
  const failures: LoginContent[] = [];
  const api = new Hono<Env>();
  oidcRoutes(api, {
    oidc: { dashboardUrl: "https://flotilla.example.com" } as OidcLogin,
    cookies: {
      write(content) {
        failures.push(content);
        return Promise.resolve("login=x");
      },
      read: () => Promise.resolve(undefined),
    },
    sessions: { loginAs: () => assert.fail("no session may begin") },
    clock: createFakeClock(),
    log: lineLog({ name: "hub", level: "info", write: (line) => void lines.push(line) }),
  });
  const incoming = { headers: {}, socket: { remoteAddress: "192.0.2.1" } };
  return { lines, failures, open: () => api.request(callback, {}, { incoming }) };
}

function codeOf(content: LoginContent | undefined): string | undefined {
  return content?.kind === "failure" ? content.code : undefined;
}

describe("the callback of a login with OpenID Connect", () => {
  test("redirects to the page with the failure, without a login of this browser", async () => {
    const { open, failures } = setUp();
    const response = await open();
    assert.deepEqual([response.status, response.headers.get("location")], [303, "/"]);
    assert.deepEqual(failures.map(codeOf), ["LOGIN_EXPIRED"]);
  });

  test("is limited for each address before it logs", async () => {
    const { open, lines, failures } = setUp();
    for (let request = 0; request < 30; request += 1) await open();
    assert.equal(lines.length, 10);
    assert.equal(codeOf(failures.at(-1)), "LOGIN_LIMITED");
  });
});
