import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseAgentConfig } from "./config.ts";

describe("the agent's configuration", () => {
  test("has defaults for all flags", () => {
    const config = parseAgentConfig([], {});

    assert.equal(config.helm, "helm");
    assert.equal(config.kustomize, "kustomize");
    assert.equal(config.confine, "confine");
    assert.equal(config.logLevel, "info");
    assert.ok(config.concurrency >= 2);
    assert.ok(!("kubeconfig" in config), "the in-cluster configuration is used");
  });

  test("has the same name for every process with one data directory, and another for each directory", () => {
    const nameOf = (...args: readonly string[]) => parseAgentConfig(args, {}).replica;

    assert.equal(nameOf("--data-dir=/data"), nameOf("--data-dir=/data/"));
    assert.notEqual(nameOf("--data-dir=/data"), nameOf("--data-dir=/other"));
    assert.equal(nameOf("--replica=agent-abc"), "agent-abc");
  });

  test("has the file of further certificate authorities, if one is set", () => {
    const fileOf = (file?: string) =>
      parseAgentConfig([], file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file });

    assert.equal(fileOf("/etc/flotilla/ca/ca.crt").extraAuthorities, "/etc/flotilla/ca/ca.crt");
    for (const file of [undefined, ""]) assert.ok(!("extraAuthorities" in fileOf(file)));
  });

  test("has the size of the chart cache in bytes", () => {
    const sizeOf = (...args: readonly string[]) => parseAgentConfig(args, {}).chartCacheBytes;

    assert.equal(sizeOf(), 1024 ** 3);
    assert.equal(sizeOf("--chart-cache-size=500Mi"), 500 * 1024 ** 2);
    assert.equal(sizeOf("--chart-cache-size=0"), 0);
  });

  test("has the limit of a Git repository in bytes", () => {
    const limitOf = (...args: readonly string[]) => parseAgentConfig(args, {}).gitBytes;

    assert.equal(limitOf(), 512 * 1024 ** 2);
    assert.equal(limitOf("--git-size-limit=100Ki"), 100 * 1024);
  });

  test("has the limit of one chart in bytes", () => {
    const limitOf = (...args: readonly string[]) => parseAgentConfig(args, {}).maxChartBytes;

    assert.equal(limitOf(), 256 * 1024 ** 2);
    assert.equal(limitOf("--chart-size-limit=10Mi"), 10 * 1024 ** 2);
  });

  test("prefers a flag to its environment variable", () => {
    const environment = { KUBECONFIG: "/from/environment" };

    assert.equal(parseAgentConfig([], environment).kubeconfig, "/from/environment");
    assert.equal(parseAgentConfig(["--kubeconfig=/flag"], environment).kubeconfig, "/flag");
    assert.ok(!("kubeconfig" in parseAgentConfig([], { KUBECONFIG: "" })));
  });

  test("passes only proxy and certificate variables to Helm", () => {
    const config = parseAgentConfig([], {
      PATH: "/bin",
      HTTPS_PROXY: "http://proxy",
      SECRET_TOKEN: "secret",
      HELM_DRIVER: "memory",
      HOME: "/root",
    });

    assert.deepEqual(config.helmEnvironment, { PATH: "/bin", HTTPS_PROXY: "http://proxy" });
  });

  test("has the proxies for chart repositories", () => {
    assert.equal(parseAgentConfig([], {}).proxy, undefined);
    assert.equal(
      parseAgentConfig([], { HTTP_PROXY: "http://proxy" }).proxy?.httpProxy,
      "http://proxy",
    );
  });

  test("has the namespaces whose accounts are impersonated, where impersonation is required", () => {
    assert.ok(!("impersonationNamespaces" in parseAgentConfig([], {})));
    assert.deepEqual(
      parseAgentConfig(["--impersonation-namespaces=team-a,team-b"], {}).impersonationNamespaces,
      ["team-a", "team-b"],
    );
  });

  const invalid: readonly (readonly [string, RegExp])[] = [
    ["--concurrency=0", /--concurrency is "0"/],
    ["--concurrency=two", /--concurrency is "two"/],
    ["--chart-cache-size=1.5Gi", /--chart-cache-size is "1.5Gi", expected a whole number/],
    ["--chart-cache-size=much", /--chart-cache-size is "much"/],
    ["--git-size-limit=512MB", /--git-size-limit is "512MB", expected a whole number/],
    ["--chart-size-limit=big", /--chart-size-limit is "big", expected a whole number/],
    ["--log-level=loud", /--log-level is "loud", expected one of /],
    ["--internal-listen=nowhere", /--internal-listen/],
    ["--impersonation-namespaces=", /has "", expected names of namespaces/],
    ["--impersonation-namespaces=a,B", /has "B", expected names of namespaces/],
    ["--impersonation-namespaces=a,kube-system", /has kube-system, whose service accounts may not/],
    ["--impersonation-namespaces=flotilla-agent", /has flotilla-agent, whose service accounts/],
    ["--unknown", /--unknown/],
  ];
  for (const [flag, expected] of invalid) {
    test(`rejects ${flag} and names the flag`, () =>
      assert.throws(() => parseAgentConfig([flag], {}), expected));
  }
});
