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
});
