import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { AppError } from "../../../runtime/errors/index.ts";
import type { AccessSettings, SourceLocation } from "../index.ts";
import { type AccessSecretOptions, accessSettingsFromSecret } from "./access-secret.ts";

const http: SourceLocation = {
  kind: "http",
  repository: "https://charts.example.com/a",
  chart: "x",
};
const oci: SourceLocation = { kind: "oci", repository: "oci://registry.example.com/team/x" };
const hub: SourceLocation = { kind: "oci", repository: "oci://docker.io/library/x" };
const tarball: SourceLocation = { kind: "tarball", url: "https://files.example.com/x.tgz" };
const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const secretText = "hunter2-planted";
const basic = { username: "me", password: secretText };

type Texts = Readonly<Record<string, string>>;

function read(texts: Texts | undefined, options: Partial<AccessSecretOptions> = {}) {
  const data = Object.fromEntries(
    Object.entries(texts ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  return accessSettingsFromSecret(texts && { data }, { source: http, ...options });
}

const docker = (auths: unknown): Texts => ({ ".dockerconfigjson": JSON.stringify({ auths }) });
const auth = Buffer.from(`me:${secretText}`).toString("base64");

const ignored =
  "cacerts of the secret has no certificate in PEM form (-----BEGIN CERTIFICATE-----), which is ignored, because no certificate of the repository is verified";

describe("the Secret of a repository", () => {
  const cases: readonly (readonly [
    string,
    Texts | undefined,
    Partial<AccessSecretOptions>,
    AccessSettings,
  ])[] = [
    ["no settings without a Secret", undefined, {}, {}],
    ["no settings for an empty Secret", {}, {}, {}],
    [
      "all of Fleet's keys",
      { ...basic, cacerts: pem, insecureSkipVerify: "true", basicHTTP: "T", other: "x" },
      {},
      { ...basic, caPem: pem, insecureSkipVerify: true, plainHttp: true },
    ],
    [
      "a flag that the HelmOp overrides with false",
      { insecureSkipVerify: "true" },
      { insecureSkipVerify: false },
      {},
    ],
    [
      "a flag that the HelmOp overrides with true",
      {},
      { insecureSkipVerify: true },
      { insecureSkipVerify: true },
    ],
    ["an invalid flag as false", { insecureSkipVerify: "nonsense", basicHTTP: "no" }, {}, {}],
    [
      "a remark for authorities that are not PEM, when no certificate is verified",
      { cacerts: secretText, insecureSkipVerify: "true" },
      {},
      { insecureSkipVerify: true, remark: ignored },
    ],
    [
      "a remark for authorities that are not PEM, when the repository is plain HTTP",
      { cacerts: secretText },
      { source: { kind: "tarball", url: "http://charts.example.com/a.tgz" } },
      { remark: ignored },
    ],
    [
      "a remark for authorities that are not PEM, when the registry is plain HTTP",
      { cacerts: secretText, basicHTTP: "true" },
      { source: { kind: "oci", repository: "oci://registry.example.com/web" } },
      { plainHttp: true, remark: ignored },
    ],
    ["the hub's authorities when it has none", basic, { caBundle: pem }, { ...basic, caPem: pem }],
    [
      "its own authorities instead of the hub's",
      { cacerts: `${pem}own` },
      { caBundle: pem },
      { caPem: `${pem}own` },
    ],
    [
      "a client certificate, with its authority",
      { "tls.crt": "cert", "tls.key": "key", "ca.crt": pem },
      {},
      { clientCertificate: { certPem: "cert", keyPem: "key" }, caPem: pem },
    ],
    ["a token", { bearerToken: "abc\n" }, {}, { bearerToken: "abc" }],
    ["docker's auth", docker({ "registry.example.com": { auth } }), { source: oci }, basic],
    [
      "docker's user and password",
      docker({ "registry.example.com": basic }),
      { source: oci },
      basic,
    ],
    [
      "docker's identity token before other credentials",
      docker({ "registry.example.com": { ...basic, identitytoken: "id" } }),
      { source: oci },
      { identityToken: "id" },
    ],
    [
      "docker's registry token",
      docker({ "registry.example.com": { registrytoken: "tok" } }),
      { source: oci },
      { bearerToken: "tok" },
    ],
    [
      "nothing from docker's entries for other hosts",
      docker({ "registry.example.com:5000": { auth }, "example.com": { auth }, "*.com": { auth } }),
      { source: oci },
      {},
    ],
    [
      "docker's legacy address of Docker Hub",
      docker({ "https://index.docker.io/v1/": { auth } }),
      { source: hub },
      basic,
    ],
    [
      "docker's hosts with a wildcard",
      docker({ "*.example.com": { auth } }),
      { source: oci },
      basic,
    ],
    [
      "docker's hosts with a wildcard within a label",
      docker({ "r*i*y.exam*.com": { auth } }),
      { source: oci },
      basic,
    ],
    [
      "nothing from a pattern that does not match the host",
      docker({ "registry*registry.example.com": { auth }, "r*z*y.example.com": { auth } }),
      { source: oci },
      {},
    ],
    [
      "docker's exact host before a pattern, in any order",
      docker({ "*.example.com": { registrytoken: "any" }, "registry.example.com": { auth } }),
      { source: oci },
      basic,
    ],
    [
      "docker's longest path",
      docker({
        "registry.example.com": { registrytoken: "host" },
        "registry.example.com/team": { registrytoken: "team" },
        "registry.example.com/tea": { registrytoken: "other" },
      }),
      { source: oci },
      { bearerToken: "team" },
    ],
    [
      "docker's entry for a repository with an index",
      docker({ "charts.example.com": { auth } }),
      {},
      basic,
    ],
    [
      "docker's entry for an archive",
      docker({ "files.example.com": { auth } }),
      { source: tarball },
      basic,
    ],
  ];
  for (const [what, texts, options, settings] of cases) {
    test(`gives ${what}`, () => assert.deepEqual(read(texts, options), settings));
  }

  const rejected: readonly (readonly [Texts, string])[] = [
    [{ username: secretText }, "username is set in the secret, but password isn't"],
    [{ password: secretText, username: "" }, "password is set in the secret, but username isn't"],
    [{ "tls.crt": secretText }, "tls.crt is set in the secret, but tls.key isn't"],
    [{ "tls.key": secretText }, "tls.key is set in the secret, but tls.crt isn't"],
    [
      { cacerts: secretText },
      "cacerts of the secret has no certificate in PEM form (-----BEGIN CERTIFICATE-----)",
    ],
    [
      { "ca.crt": secretText },
      "ca.crt of the secret has no certificate in PEM form (-----BEGIN CERTIFICATE-----)",
    ],
    [
      { ...basic, bearerToken: secretText },
      "username and bearerToken are set in the secret: only one of them can be used",
    ],
    [
      { ".dockerconfigjson": secretText },
      ".dockerconfigjson of the secret is not JSON with `auths` by host",
    ],
    [docker([secretText]), ".dockerconfigjson of the secret is not JSON with `auths` by host"],
    [
      docker({ "charts.example.com": { auth: secretText } }),
      "the entry for charts.example.com in .dockerconfigjson of the secret has an auth that is not base64 of username:password",
    ],
    [
      docker({ "charts.example.com": { username: secretText } }),
      "the entry for charts.example.com in .dockerconfigjson of the secret has neither auth, nor username and password, nor a token",
    ],
  ];
  for (const [texts, message] of rejected) {
    test(`is rejected: ${message}`, () => {
      const response = read(texts);

      assert.ok(response instanceof AppError);
      assert.equal(response.code, "REPOSITORY_SECRET_INVALID");
      assert.equal(response.message, message);
    });
  }
});
