import assert from "node:assert/strict";
import type { ProviderSpec } from "@flotilla/shared/flux";
import type { Secret } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { WrittenProvider } from "./objects.ts";
import { createParseHeaders, readyProvider } from "./provider-settings.ts";

function provider(spec: Partial<ProviderSpec>): WrittenProvider {
  return {
    metadata: { namespace: "prod", name: "chat", uid: "uid" },
    spec: { type: "generic", address: "https://sink.example.com/path", ...spec },
  };
}

function secret(texts: Readonly<Record<string, string>>): Secret {
  const data = Object.entries(texts).map(([key, text]) => [
    key,
    Buffer.from(text).toString("base64"),
  ]);
  return { metadata: { name: "s" }, data: Object.fromEntries(data) };
}

const ref = { name: "s" };

describe("the settings of a Provider", () => {
  test("are those of its spec, with Flux's timeout", () => {
    const ready = readyProvider(provider({ channel: "alerts", username: "bot" }), {});

    assert.ok(typeof ready !== "string");
    const { address, ...settings } = ready.settings;
    assert.equal(address.href, "https://sink.example.com/path");
    assert.deepEqual(settings, {
      ...{ channel: "alerts", username: "bot", password: "", token: "", headers: {}, uid: "uid" },
    });
    assert.deepEqual(ready.access, { origin: "https://sink.example.com" });
    assert.equal(ready.timeoutMs, 15_000);
  });

  test("are those of its Secret where that has them", () => {
    const ready = readyProvider(provider({ secretRef: ref, timeout: "1m30s", username: "bot" }), {
      secret: secret({
        ...{ address: " http://other.example.com/x\n", token: "t\n", username: "u", password: "p" },
        headers: "X-Key: abc\n",
      }),
    });

    assert.ok(typeof ready !== "string");
    const { settings, timeoutMs } = ready;
    assert.equal(settings.address.href, "http://other.example.com/x");
    assert.deepEqual([settings.token, settings.username, settings.password], ["t", "u", "p"]);
    assert.deepEqual(settings.headers, { "X-Key": "abc" });
    assert.equal(timeoutMs, 90_000);
  });

  test("have the authority instead of the system's, the client certificate and the proxy", () => {
    const ready = readyProvider(provider({ certSecretRef: ref, proxySecretRef: ref }), {
      certSecret: secret({ "ca.crt": "CA", "tls.crt": "CERT", "tls.key": "KEY" }),
      proxySecret: secret({
        address: "http://proxy.example.com:3128",
        username: "u",
        password: "p",
      }),
    });

    assert.ok(typeof ready !== "string");
    assert.deepEqual(ready.access, {
      origin: "https://sink.example.com",
      ...{ caPem: "CA", trustsOnlyCa: true },
      clientCertificate: { certPem: "CERT", keyPem: "KEY" },
      proxy: { address: "http://proxy.example.com:3128", username: "u", password: "p" },
    });
  });

  test("have the deprecated forms of a proxy", () => {
    const ready = readyProvider(provider({ proxy: "http://u:p%40@proxy.example.com:3128" }), {});

    assert.ok(typeof ready !== "string");
    assert.deepEqual(ready.access.proxy, {
      ...{ address: "http://proxy.example.com:3128", username: "u", password: "p@" },
    });
  });

  for (const [what, spec, secrets, why] of [
    [
      "another type",
      { type: "matrix" },
      {},
      /^providers of type matrix are not supported: use one of generic, /,
    ],
    [
      "an account of a cloud",
      { serviceAccountName: "a" },
      {},
      /serviceAccountName is not supported/,
    ],
    [
      "an expression for the status",
      { type: "github", commitStatusExpr: "'a'" },
      {},
      /commitStatusExpr is not supported/,
    ],
    [
      "no Secret",
      { secretRef: ref },
      {},
      /^the Secret s of spec\.secretRef does not exist, or is one that Providers may not use: /,
    ],
    [
      "no Secret with certificates",
      { certSecretRef: ref },
      {},
      /^the Secret s of spec\.certSecretRef does not exist, or is one that /,
    ],
    ["no address", { address: "" }, {}, /^the Provider has no address/],
    [
      "an address of another scheme",
      { address: "ftp://a.example.com" },
      {},
      /not a URL that starts with https/,
    ],
    [
      "headers that are no map",
      { secretRef: ref },
      { secret: secret({ headers: "- a" }) },
      /not a YAML map/,
    ],
    [
      "headers of a megabyte",
      { secretRef: ref },
      { secret: secret({ headers: "- a\n".repeat(250_000) }) },
      /^the key headers of the Secret has more than 16 KiB$/,
    ],
    [
      "headers with a line break",
      { secretRef: ref },
      { secret: secret({ headers: 'a: "b\\r\\nc"' }) },
      /not a YAML map/,
    ],
    [
      "half a client certificate",
      { certSecretRef: ref },
      { certSecret: secret({ "tls.crt": "a" }) },
      /only one of tls\.crt and tls\.key/,
    ],
    [
      "a Secret without certificates",
      { certSecretRef: ref },
      { certSecret: secret({}) },
      /neither ca\.crt nor/,
    ],
    [
      "a proxy without an address",
      { proxySecretRef: ref },
      { proxySecret: secret({}) },
      /proxySecretRef has no address/,
    ],
  ] as const)
    test(`with ${what} are refused, without what the Secret holds`, () => {
      const refused = readyProvider(provider(spec), secrets);

      assert.ok(typeof refused === "string");
      assert.match(refused, why);
    });
});

describe("Providers of the type", () => {
  const refused = [
    ...["googlechat", "googlepubsub", "azureeventhub", "datadog", "sentry", "opsgenie", "telegram"],
    ...["matrix", "lark", "rocket", "webex", "zulip", "nats", "githubdispatch", "bitbucket"],
    ...["bitbucketserver", "azuredevops", "otel", "giteapullrequestcomment"],
    ...["githubpullrequestcomment", "gitlabmergerequestcomment"],
  ] as const;
  for (const type of refused)
    test(`${type} are refused with the types to use instead`, () => {
      const why = readyProvider(provider({ type }), {});

      assert.ok(typeof why === "string");
      assert.match(
        why,
        new RegExp(`^providers of type ${type} are not supported: use one of generic, .*gitea$`),
      );
    });
});

test("the headers of a Secret are read once, and again when they change", () => {
  const parse = createParseHeaders();
  const long = Array.from({ length: 500 }, (_, at) => `X-Key-${at}: value\n`).join("");

  assert.equal(parse(long), parse(long));
  assert.deepEqual(parse("X-Key: abc"), { "X-Key": "abc" });
  assert.equal(parse("- a"), parse("- b"));
});
