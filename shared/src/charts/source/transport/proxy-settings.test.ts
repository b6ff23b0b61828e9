import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ProxySettings } from "./connection-pools.ts";
import { proxySettings } from "./proxy-settings.ts";

const cases: readonly (readonly [
  what: string,
  environment: Readonly<Record<string, string>>,
  settings: ProxySettings | undefined,
])[] = [
  ["empty when none is set", { NO_PROXY: "example.com", HTTP_PROXY: " " }, undefined],
  [
    "both, and the hosts without a proxy",
    { HTTP_PROXY: "http://a:1", HTTPS_PROXY: "https://b:2", NO_PROXY: ".svc,example.com" },
    {
      httpProxy: "http://a:1",
      httpsProxy: "https://b:2",
      noProxy: ".svc,example.com,localhost,127.0.0.1,::1",
    },
  ],
  [
    "the lower-case names first, and an address without a scheme",
    { HTTPS_PROXY: "http://a:1", https_proxy: "b.example.com:2" },
    { httpsProxy: "http://b.example.com:2", noProxy: "localhost,127.0.0.1,::1" },
  ],
];
describe("the proxies of an environment", () => {
  for (const [what, environment, settings] of cases) {
    test(`are ${what}`, () => assert.deepEqual(proxySettings(environment), settings));
  }

  test("are rejected by the name of the variable, without its value", () => {
    assert.throws(() => proxySettings({ https_proxy: "socks5://me:planted@proxy:1" }), {
      code: "CONFIG_INVALID",
      message: "https_proxy is not the address of a proxy, as in http://proxy.example.com:3128",
    });
  });
});
