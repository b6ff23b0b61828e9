import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseHubConfig } from "../../../config.ts";

const least = [
  "--oidc-issuer-url=https://id.example.com/realms/a",
  "--oidc-client-id=flotilla",
  "--oidc-client-secret-file=/etc/flotilla/oidc/client-secret",
  "--dashboard-url=https://flotilla.example.com/",
  "--oidc-groups-prefix=oidc:",
];

const parse = (...flags: readonly string[]) => parseHubConfig(flags, {}).oidc;

describe("login with OpenID Connect", () => {
  test("is off without an issuer", () => {
    assert.equal(parse(), undefined);
    assert.equal(parse("--dashboard-url=https://flotilla.example.com"), undefined);
  });

  test("has the defaults of kube-apiserver for claims", () => {
    assert.deepEqual(parse(...least), {
      issuer: "https://id.example.com/realms/a",
      clientId: "flotilla",
      clientSecretFile: "/etc/flotilla/oidc/client-secret",
      dashboardUrl: "https://flotilla.example.com",
      scopes: ["openid", "profile", "email", "groups"],
      ...{ usernameClaim: "sub", usernamePrefix: "https://id.example.com/realms/a#" },
      ...{ groupsClaim: "groups", groupsPrefix: "oidc:", allowedGroups: [] },
      sessionMs: 8 * 3_600_000,
    });
  });

  const prefixes: readonly (readonly [flags: readonly string[], prefix: string])[] = [
    [["--oidc-username-claim=email"], ""],
    [["--oidc-username-claim=email", "--oidc-username-prefix=oidc:"], "oidc:"],
    [["--oidc-username-prefix=oidc:"], "oidc:"],
    [["--oidc-username-prefix=-"], ""],
  ];
  for (const [flags, prefix] of prefixes)
    test(`has the prefix "${prefix}" with ${flags.join(" ")}`, () =>
      assert.equal(parse(...least, ...flags)?.usernamePrefix, prefix));

  test("has scopes, a CA file and a duration where they are given", () => {
    const oidc = parse(
      ...least,
      ...["--oidc-scope=openid", "--oidc-scope=roles", "--oidc-ca-file=/ca.crt"],
      "--oidc-session-duration=30m",
    );
    assert.deepEqual(oidc?.scopes, ["openid", "roles"]);
    assert.equal(oidc.caFile, "/ca.crt");
    assert.equal(oidc.sessionMs, 1_800_000);
  });

  test("may have an issuer without TLS on this machine", () => {
    for (const host of ["localhost:5556", "127.0.0.1:5556", "[::1]:5556"])
      assert.equal(parse(...least, `--oidc-issuer-url=http://${host}`)?.issuer, `http://${host}`);
  });

  for (const flags of [["--oidc-allowed-group=dev"], ["--oidc-groups-claim="]])
    test(`needs no prefix of groups with ${flags.join(" ")}`, () => {
      const oidc = parse(...least, "--oidc-groups-prefix=", ...flags);
      assert.equal(oidc?.groupsPrefix, "");
    });

  const rows: readonly (readonly [what: string, flags: readonly string[], RegExp])[] = [
    [
      "an issuer without TLS elsewhere",
      [...least, "--oidc-issuer-url=http://id.example.com"],
      /^--oidc-issuer-url is "http:\/\/id\.example\.com", which is not an https:\/\/ address \(http/,
    ],
    [
      "an issuer on a host that only looks like this machine",
      [...least, "--oidc-issuer-url=http://localhost.example.com"],
      /--oidc-issuer-url is .* not an https:/,
    ],
    [
      "an issuer that is not a URL",
      [...least, "--oidc-issuer-url=id"],
      /--oidc-issuer-url is "id"/,
    ],
    [
      "an issuer with a query",
      [...least, "--oidc-issuer-url=https://id.example.com/?a=b"],
      /--oidc-issuer-url has a user, a query/,
    ],
    ["no client", least.filter((flag) => !flag.includes("client-id")), /needs --oidc-client-id$/],
    [
      "no secret",
      least.filter((flag) => !flag.includes("secret")),
      /needs --oidc-client-secret-file$/,
    ],
    ["no address of the dashboard", least.slice(0, 3), /needs --dashboard-url$/],
    [
      "an address of the dashboard without TLS, whose cookies browsers reject",
      [...least, "--dashboard-url=http://flotilla.example.com"],
      /^--dashboard-url is .* not an https:/,
    ],
    [
      "a dashboard at a path",
      [...least, "--dashboard-url=https://example.com/flotilla"],
      /^--dashboard-url is .* at the path \/ of its host$/,
    ],
    ["no scope openid", [...least, "--oidc-scope=email"], /^--oidc-scope lacks openid/],
    [
      "a prefix of Kubernetes' own names",
      [...least, "--oidc-groups-prefix=system:"],
      /^--oidc-groups-prefix is "system:", but names under "system:" are Kubernetes' own$/,
    ],
    [
      "no prefix of groups, which could be those of the cluster",
      [...least, "--oidc-groups-prefix="],
      /^--oidc-groups-prefix is empty, so that a group of the provider has the rights/,
    ],
    ["a day and more", [...least, "--oidc-session-duration=25h"], /not a duration from 1m to 24h/],
    ["a client without an issuer", ["--oidc-client-id=a"], /^--oidc-client-id needs --oidc-issuer/],
  ];
  for (const [what, flags, message] of rows)
    test(`is rejected with ${what}`, () =>
      assert.throws(() => parse(...flags), { code: "CONFIG_INVALID", message }));

  test("is rejected without a password in the message", () =>
    assert.throws(
      () => parse(...least, "--oidc-issuer-url=https://me:planted@id.example.com"),
      ({ message }: Error) => !message.includes("planted"),
    ));
});
