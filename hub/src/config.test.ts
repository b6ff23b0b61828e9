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

  test("has the file of further certificate authorities, if one is set", () => {
    const fileOf = (file?: string) =>
      parseHubConfig([], file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file });

    assert.equal(fileOf("/etc/flotilla/ca/ca.crt").extraAuthorities, "/etc/flotilla/ca/ca.crt");
    for (const file of [undefined, ""]) assert.ok(!("extraAuthorities" in fileOf(file)));
  });

  test("takes over from Fleet only with the flag", () => {
    assert.equal(parseHubConfig([], {}).takeOverFromFleet, false);
    assert.equal(parseHubConfig(["--take-over-from-fleet"], {}).takeOverFromFleet, true);
  });

  test("looks for Flux's Leases in flux-system, or in the namespaces that are named", () => {
    const namespacesOf = (...flags: readonly string[]) => parseHubConfig(flags, {}).fluxNamespaces;

    assert.deepEqual(namespacesOf(), ["flux-system"]);
    assert.deepEqual(namespacesOf("--flux-namespace=gitops", "--flux-namespace=flux"), [
      "gitops",
      "flux",
    ]);
  });

  test("denies charts from this machine and allows those from private networks, unless flags say otherwise", () => {
    const egressOf = (...flags: readonly string[]) => parseHubConfig(flags, {}).egress;

    const byDefault = {
      ...{ allowLoopback: false, denyPrivate: false, denyPrivateNotifications: false },
      ...{ denyApiServer: true, denied: [] },
    };
    assert.deepEqual(egressOf(), byDefault);
    assert.deepEqual(egressOf("--egress-loopback=allow", "--egress-private=deny"), {
      ...byDefault,
      ...{ allowLoopback: true, denyPrivate: true, denyPrivateNotifications: true },
    });
    assert.deepEqual(egressOf("--egress-notifications-private=deny", "--egress-api-server=allow"), {
      ...byDefault,
      denyPrivateNotifications: true,
      denyApiServer: false,
    });
    assert.deepEqual(egressOf("--egress-private=deny", "--egress-notifications-private=allow"), {
      ...byDefault,
      denyPrivate: true,
    });
    assert.throws(() => egressOf("--egress-private=no"), {
      code: "CONFIG_INVALID",
      message: '--egress-private is "no", which is neither allow nor deny',
    });
  });

  test("denies further networks, each of which has to be one", () => {
    const egressOf = (...flags: readonly string[]) => parseHubConfig(flags, {}).egress;

    assert.deepEqual(egressOf("--egress-deny=10.96.0.0/12", "--egress-deny=fd00::1").denied, [
      "10.96.0.0/12",
      "fd00::1",
    ]);
    assert.throws(() => egressOf("--egress-deny=services"), {
      code: "CONFIG_INVALID",
      message:
        '--egress-deny is "services", which is neither a network (such as 10.96.0.0/12) nor an address',
    });
  });
});
