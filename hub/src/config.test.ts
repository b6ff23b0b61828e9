import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseHubConfig } from "./config.ts";

describe("the hub's configuration", () => {
  test("has the proxies for requests to repositories, if any are set", () => {
    assert.equal(parseHubConfig([], {}).proxy, undefined);
    assert.deepEqual(parseHubConfig([], { HTTPS_PROXY: "http://proxy:3128" }).proxy, {
      httpsProxy: "http://proxy:3128",
      noProxy: "localhost,127.0.0.1,::1",
    });
  });

  test("takes over from Fleet only with the flag", () => {
    assert.equal(parseHubConfig([], {}).takeOverFromFleet, false);
    assert.equal(parseHubConfig(["--take-over-from-fleet"], {}).takeOverFromFleet, true);
  });

  test("denies charts from this machine and allows those from private networks, unless flags say otherwise", () => {
    const egressOf = (...flags: readonly string[]) => parseHubConfig(flags, {}).egress;

    assert.deepEqual(egressOf(), { allowLoopback: false, denyPrivate: false });
    assert.deepEqual(egressOf("--egress-loopback=allow", "--egress-private=deny"), {
      allowLoopback: true,
      denyPrivate: true,
    });
    assert.throws(() => egressOf("--egress-private=no"), {
      code: "CONFIG_INVALID",
      message: '--egress-private is "no", which is neither allow nor deny',
    });
  });
});
