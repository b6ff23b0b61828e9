import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseAgentConfig } from "./config.ts";

describe("the agent's flags", () => {
  test("are all optional", () => {
    const config = parseAgentConfig([], {});

    assert.equal(config.helm, "helm");
    assert.equal(config.logLevel, "info");
    assert.ok(config.concurrency >= 2);
    assert.ok(!("kubeconfig" in config), "then it is the pod's own");
  });

  test("override the environment", () => {
    const environment = { KUBECONFIG: "/from/environment" };

    assert.equal(parseAgentConfig([], environment).kubeconfig, "/from/environment");
    assert.equal(parseAgentConfig(["--kubeconfig=/flag"], environment).kubeconfig, "/flag");
    assert.ok(!("kubeconfig" in parseAgentConfig([], { KUBECONFIG: "" })));
  });

  test("pass proxies and certificates on to Helm, and nothing else", () => {
    const config = parseAgentConfig([], {
      PATH: "/bin",
      HTTPS_PROXY: "http://proxy",
      SECRET_TOKEN: "secret",
      HELM_DRIVER: "memory",
      HOME: "/root",
    });

    assert.deepEqual(config.helmEnvironment, { PATH: "/bin", HTTPS_PROXY: "http://proxy" });
  });

  test("include the proxies for repositories", () => {
    assert.equal(parseAgentConfig([], {}).proxy, undefined);
    assert.equal(
      parseAgentConfig([], { HTTP_PROXY: "http://proxy" }).proxy?.httpProxy,
      "http://proxy",
    );
  });

  const invalid: readonly (readonly [string, RegExp])[] = [
    ["--concurrency=0", /--concurrency is "0"/],
    ["--concurrency=two", /--concurrency is "two"/],
    ["--log-level=loud", /--log-level is "loud", expected one of /],
    ["--http-listen=nowhere", /--http-listen/],
    ["--unknown", /--unknown/],
  ];
  for (const [flag, expected] of invalid) {
    test(`are rejected by name: ${flag}`, () =>
      assert.throws(() => parseAgentConfig([flag], {}), expected));
  }
});
