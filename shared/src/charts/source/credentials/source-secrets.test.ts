import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { AppError } from "../../../runtime/errors/index.ts";
import type { AccessSettings } from "../index.ts";
import { accessFromSourceSecrets, type SourceAccessOptions, type SourceKind } from "./index.ts";

const http = { url: "https://charts.example.com/a" };
const oci = { url: "oci://registry.example.com/team/web" };
const ssh = { url: "ssh://me@git.example.com/a" };
const bucket = { url: "https://s3.example.com" };
const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const planted = "hunter2-planted";
const basic = { username: "me", password: planted };
const client = { clientCertificate: { certPem: "cert", keyPem: "key" } };
const pull = {
  ".dockerconfigjson": JSON.stringify({ auths: { "registry.example.com": basic } }),
};
const app = { githubAppID: "1", githubAppPrivateKey: planted, githubAppInstallationID: "2" };

type Texts = Readonly<Record<string, string>>;

interface Given {
  readonly secret?: Texts;
  readonly certSecret?: Texts;
  readonly proxySecret?: Texts;
}

function secretOf(texts: Texts | undefined) {
  if (texts === undefined) return undefined;
  const entries = Object.entries(texts).map(([key, text]) => [
    key,
    Buffer.from(text).toString("base64"),
  ]);
  return { data: Object.fromEntries(entries) };
}

function read(kind: SourceKind, given: Given, options: SourceAccessOptions) {
  return accessFromSourceSecrets(
    kind,
    {
      secret: secretOf(given.secret),
      certSecret: secretOf(given.certSecret),
      proxySecret: secretOf(given.proxySecret),
    },
    options,
  );
}

describe("the Secrets of a source", () => {
  const cases: readonly (readonly [
    string,
    SourceKind,
    Given,
    SourceAccessOptions,
    AccessSettings,
  ])[] = [
    ["no settings without Secrets", "GitRepository", {}, http, {}],
    ["user and password of a HelmRepository", "HelmRepository", { secret: basic }, http, basic],
    [
      "its credentials for other hosts of the index",
      "HelmRepository",
      { secret: basic },
      { ...http, passCredentials: true },
      { ...basic, passCredentials: true },
    ],
    [
      "its certificates from certSecretRef alone",
      "HelmRepository",
      {
        secret: { ...basic, caFile: `${pem}old` },
        certSecret: { "ca.crt": pem, "tls.crt": "cert", "tls.key": "key" },
      },
      http,
      { ...basic, ...client, caPem: pem },
    ],
    [
      "its certificates by the legacy keys, beside the credentials",
      "HelmRepository",
      { secret: { ...basic, caFile: pem, certFile: "cert", keyFile: "key" } },
      http,
      { ...basic, ...client, caPem: pem },
    ],
    ["user and password of a registry", "HelmRepository", { secret: basic }, oci, basic],
    ["the pull secret of a registry", "HelmRepository", { secret: pull }, oci, basic],
    [
      "plain HTTP of a registry",
      "HelmRepository",
      {},
      { ...oci, insecure: true },
      { plainHttp: true },
    ],
    ["no plain HTTP of another address", "HelmRepository", {}, { ...http, insecure: true }, {}],
    [
      "nothing for a cloud's provider of an index",
      "HelmRepository",
      {},
      { ...http, provider: "aws" },
      {},
    ],
    ["the pull secret of an OCIRepository", "OCIRepository", { secret: pull }, oci, basic],
    [
      "the pull secret before a cloud's provider",
      "OCIRepository",
      { secret: pull },
      { ...oci, provider: "gcp" },
      basic,
    ],
    [
      "a remark for any other Secret of an OCIRepository",
      "OCIRepository",
      { secret: basic },
      oci,
      { remark: "the secret has no .dockerconfigjson, so no credentials are used" },
    ],
    [
      "HTTPS before HTTP, without verification, of an insecure OCIRepository",
      "OCIRepository",
      {},
      { ...oci, insecure: true },
      { plainHttpFallback: true, insecureSkipVerify: true },
    ],
    [
      "verification by the certificates of an insecure OCIRepository",
      "OCIRepository",
      { certSecret: { "ca.crt": pem } },
      { ...oci, insecure: true },
      { plainHttpFallback: true, caPem: pem },
    ],
    [
      "a proxy",
      "OCIRepository",
      { proxySecret: { address: "http://proxy.example.com:3128\n", ...basic } },
      oci,
      { proxy: { address: "http://proxy.example.com:3128", ...basic } },
    ],
    [
      "a proxy with the user of its address",
      "Bucket",
      { proxySecret: { address: "socks5://a%40b:c%zz@proxy.example.com" } },
      bucket,
      { proxy: { address: "socks5://proxy.example.com", username: "a@b", password: "c%zz" } },
    ],
    ["user and password of Git", "GitRepository", { secret: basic }, http, basic],
    [
      "a token of Git",
      "GitRepository",
      { secret: { bearerToken: "t\n" } },
      http,
      { bearerToken: "t" },
    ],
    [
      "certificates of Git beside the credentials",
      "GitRepository",
      { secret: { ...basic, "ca.crt": pem, "tls.crt": "cert", "tls.key": "key" } },
      http,
      { ...basic, ...client, caPem: pem },
    ],
    [
      "an SSH key with its passphrase, and the user of the address",
      "GitRepository",
      { secret: { identity: "key", known_hosts: "hosts", password: planted } },
      ssh,
      { ssh: { identityPem: "key", knownHosts: "hosts", passphrase: planted, username: "me" } },
    ],
    [
      "the token that replaced a GitHub App's key",
      "GitRepository",
      { secret: basic },
      { ...http, provider: "github" },
      basic,
    ],
    [
      "the keys of a bucket",
      "Bucket",
      { secret: { accesskey: "me", secretkey: planted } },
      { ...bucket, provider: "aws" },
      basic,
    ],
  ];
  for (const [what, kind, given, options, settings] of cases) {
    test(`give ${what}`, () =>
      assert.deepEqual(read(kind, given, options), { secretField: "spec.secretRef", ...settings }));
  }

  const invalid: readonly (readonly [SourceKind, Given, SourceAccessOptions, RegExp])[] = [
    [
      "HelmRepository",
      { secret: { password: planted } },
      http,
      /^password is set .* username isn't$/,
    ],
    [
      "GitRepository",
      { secret: { username: planted } },
      http,
      /^username is set .* password isn't$/,
    ],
    ["Bucket", { secret: { accesskey: planted } }, bucket, /^accesskey is set .* secretkey isn't$/],
    ["Bucket", { secret: {} }, bucket, /^accesskey and secretkey are missing/],
    ["Bucket", { secret: { serviceaccount: planted } }, bucket, /^serviceaccount of the secret /],
    ["OCIRepository", { certSecret: { "tls.key": planted } }, oci, /^tls\.key .* tls\.crt isn't$/],
    ["OCIRepository", { certSecret: { certFile: planted } }, oci, /^certFile .* keyFile isn't$/],
    [
      "OCIRepository",
      { certSecret: { "ca.crt": planted } },
      oci,
      /^ca\.crt of the secret has no cert/,
    ],
    [
      "OCIRepository",
      { certSecret: basic },
      oci,
      /^the secret of certSecretRef has neither ca\.crt/,
    ],
    [
      "OCIRepository",
      { secret: { ".dockerconfigjson": planted } },
      oci,
      /is not JSON with `auths`/,
    ],
    [
      "OCIRepository",
      { proxySecret: {} },
      oci,
      /^address is missing in the secret of proxySecretRef/,
    ],
    [
      "OCIRepository",
      { proxySecret: { address: `ftp://${planted}` } },
      oci,
      /^address of the secret/,
    ],
    ["OCIRepository", { proxySecret: { address: planted } }, oci, /^address of the secret/],
    [
      "OCIRepository",
      { proxySecret: { address: "http://p", username: planted } },
      oci,
      /^username is set .* password isn't$/,
    ],
    ["GitRepository", { secret: { ...basic, bearerToken: planted } }, http, /only one of them/],
    [
      "GitRepository",
      { secret: app },
      http,
      /^githubAppID is set .* spec\.provider is not github$/,
    ],
    [
      "GitRepository",
      { secret: {} },
      { ...http, provider: "github" },
      /secret has no githubAppID$/,
    ],
    ["GitRepository", {}, { ...http, provider: "github" }, /^spec\.provider github needs /],
    ["GitRepository", { secret: { known_hosts: planted } }, ssh, /^identity is missing/],
    ["GitRepository", { secret: { identity: planted } }, ssh, /^known_hosts is missing/],
    ["GitRepository", {}, ssh, /^spec\.url is an address of SSH, which needs spec\.secretRef/],
  ];
  for (const [kind, given, options, message] of invalid) {
    test(`of a ${kind} are rejected: ${message}`, () => {
      const response = read(kind, given, options);

      assert.ok(response instanceof AppError);
      assert.equal(response.code, "REPOSITORY_SECRET_INVALID");
      assert.match(response.message, message);
      assert.ok(!response.message.includes(planted));
    });
  }

  const unsupported: readonly (readonly [SourceKind, Given, SourceAccessOptions, RegExp])[] = [
    ["HelmRepository", {}, { ...oci, provider: "aws" }, /provider aws .* spec\.secretRef/],
    ["OCIRepository", {}, { ...oci, provider: "azure" }, /provider azure .* \.dockerconfigjson/],
    [
      "GitRepository",
      { secret: basic },
      { ...http, provider: "azure" },
      /provider azure .* SSH key$/,
    ],
    ["Bucket", {}, { ...bucket, provider: "aws" }, /provider aws .* accesskey and secretkey$/],
    [
      "Bucket",
      { secret: {} },
      { ...bucket, provider: "gcp" },
      /provider gcp .* provider generic, endpoint storage\.googleapis\.com .*\(accesskey, secretkey\)$/,
    ],
    [
      "Bucket",
      { secret: {} },
      { ...bucket, provider: "azure" },
      /provider azure .* or into a registry$/,
    ],
    ["GitRepository", { secret: app }, { ...http, provider: "github" }, /stays on the hub/],
  ];
  for (const [kind, given, options, message] of unsupported) {
    test(`of a ${kind} are not supported: ${message}`, () => {
      const response = read(kind, given, options);

      assert.ok(response instanceof AppError);
      assert.equal(response.code, "SOURCE_UNSUPPORTED");
      assert.match(response.message, message);
    });
  }
});
