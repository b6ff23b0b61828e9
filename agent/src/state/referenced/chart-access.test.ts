import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import { homeAuthorization, isHome, type Pin } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { chartAccess } from "./chart-access.ts";
import type { KnownObject } from "./referenced-objects.ts";

const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const paris: ClusterInfo = {
  namespace: "fleet-default",
  name: "paris",
  labels: {},
  annotations: {},
  templateValues: {},
};
const httpPin = (url: string): Pin => ({ kind: "http", version: "1.0.0", url });
const repository = "https://charts.example.com/stable";
const registry = "oci://registry.example.com/web";
const otherOriginPin = httpPin("https://cdn.example.net/web-1.0.0.tgz");
const repositoryPin = httpPin("https://charts.example.com/stable/web-1.0.0.tgz");

function content(pin: Pin, access: DeploymentContent["access"]): DeploymentContent {
  return { ...plainContent, pin, access };
}

const encoded = (texts: Readonly<Record<string, string>>): KnownObject => ({
  digest: "sha256:1",
  object: {
    data: Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    ),
  },
});

const access = (
  deployment: DeploymentContent,
  known?: KnownObject,
  own: ClusterInfo | undefined = paris,
) => chartAccess(deployment, { referenced: { get: () => known }, clusterInfo: { get: () => own } });

describe("access to a source of Flux", () => {
  const source = { kind: "HelmRepository", url: repository } as const;
  const secrets: Readonly<Record<string, KnownObject>> = {
    "apps/login": encoded({ username: "me", password: "pw" }),
    "apps/half": encoded({ username: "me" }),
    "apps/tls": encoded({ "ca.crt": pem }),
    "apps/proxy": encoded({ address: "http://proxy.example.com:3128" }),
  };
  const read = (wanted: DeploymentContent["access"], pin: Pin = repositoryPin) =>
    chartAccess(content(pin, wanted), {
      referenced: { get: ({ name }) => secrets[name] },
      clusterInfo: { get: () => paris },
    });

  test("has what its Secrets have, for the host of the source only", () => {
    const secrets = { secret: "apps/login", certSecret: "apps/tls", proxySecret: "apps/proxy" };
    const access = read({ source: { ...source, ...secrets } }, otherOriginPin);

    assert.equal(access.origin, "https://charts.example.com");
    assert.equal(access.username, "me");
    assert.equal(access.password, "pw");
    assert.equal(access.caPem, pem);
    assert.equal(access.proxy?.address, "http://proxy.example.com:3128");
    assert.equal(isHome(access, new URL("https://cdn.example.net/web-1.0.0.tgz")), false);
  });

  test("has no credentials without a Secret", () => {
    const access = read({ source });

    assert.equal(access.origin, "https://charts.example.com");
    assert.equal(access.username, undefined);
  });

  test("has that of the included repositories, in their order", () => {
    const git = { kind: "GitRepository", url: "https://git.example.com/a" } as const;
    const access = read({
      source: git,
      included: [
        { ...git, url: "https://b.example.com/b" },
        { ...git, url: "https://c.example.com/c", secret: "apps/login" },
      ],
    });

    assert.deepEqual(
      access.included?.map(({ origin, username }) => [origin, username]),
      [
        ["https://b.example.com", undefined],
        ["https://c.example.com", "me"],
      ],
    );
    assert.equal(access.username, undefined);
  });

  test("has that of the repositories with dependencies, by their address", () => {
    const git = { kind: "GitRepository", url: "https://git.example.com/a" } as const;
    const dependency = { kind: "HelmRepository", url: "https://deps.example.com/charts" } as const;
    const access = read({ source: git, dependencies: [{ ...dependency, secret: "apps/login" }] });

    assert.deepEqual(
      access.dependencies?.map(({ url, access: { username } }) => [url, username]),
      [["https://deps.example.com/charts", "me"]],
    );
    assert.equal(access.username, undefined);
  });

  for (const [what, secret, code, message] of [
    [
      "waits for a Secret that the hub has not sent",
      "apps/other",
      "REFERENCED_OBJECT_PENDING",
      "waiting for the hub to send the Secret apps/other, with the credentials for the chart's source",
    ],
    [
      "fails for an invalid Secret, by its keys",
      "apps/half",
      "REPOSITORY_SECRET_INVALID",
      /^read the credentials for the chart's source from the hub's Secrets apps\/half: .*password/,
    ],
  ] as const)
    test(what, () => {
      assert.throws(() => read({ source: { ...source, secret } }), { code, message });
    });
});

describe("access to a chart's source", () => {
  test("has no credentials without a Secret", () => {
    assert.deepEqual(access(content(repositoryPin, {})), { origin: "https://charts.example.com" });
  });

  test("has the credentials only for the origin of the repository", () => {
    const named = { secret: "source", repository };
    const known = encoded({ username: "me", password: "pw" });

    const allowed = access(content(repositoryPin, named), known);
    const denied = access(content(otherOriginPin, named), known);

    assert.notEqual(
      homeAuthorization(allowed, new URL(repositoryPin.kind === "http" ? repositoryPin.url : "")),
      undefined,
    );
    assert.equal(isHome(denied, new URL("https://cdn.example.net/web-1.0.0.tgz")), false);
    assert.equal(denied.origin, "https://charts.example.com");
  });

  test("has the registry of an OCI repository as its origin", () => {
    const pin: Pin = {
      kind: "oci",
      version: "1.0.0",
      repository: registry,
      tag: "1.0.0",
      manifestDigest: "sha256:1",
      layerDigest: "sha256:2",
      layerSizeBytes: 1,
    };
    const known = encoded({ bearerToken: "tok" });

    assert.deepEqual(access(content(pin, { secret: "source", repository: registry }), known), {
      origin: "oci://registry.example.com",
      bearerToken: "tok",
    });
    assert.equal(
      access(content(pin, { secret: "source", repository }), known).origin,
      "https://charts.example.com",
    );
  });

  test("prefers insecureSkipVerify of the HelmOp, and has the hub's authorities", () => {
    const known = encoded({ insecureSkipVerify: "true" });
    const named = { secret: "source", repository, insecureSkipVerify: false, caBundle: pem };

    assert.deepEqual(access(content(repositoryPin, named), known), {
      origin: "https://charts.example.com",
      caPem: pem,
    });
    assert.deepEqual(access(content(repositoryPin, { caBundle: pem })).caPem, pem);
  });

  const failing = [
    [
      "waits for a Secret that the hub has not sent",
      undefined,
      "REFERENCED_OBJECT_PENDING",
      "waiting for the hub to send the Secret fleet-default/source, with the credentials for the chart's source",
    ],
    [
      "fails for a Secret that the hub does not have",
      {},
      "REFERENCED_OBJECT_NOT_FOUND",
      "the hub has no Secret fleet-default/source, which helmSecretName references; the agent continues as soon as it exists",
    ],
    [
      "fails for an invalid Secret",
      encoded({ username: "me" }),
      "REPOSITORY_SECRET_INVALID",
      "read the credentials for the chart's source from the hub's Secret fleet-default/source: username is set in the secret, but password isn't",
    ],
  ] as const;
  for (const [what, known, code, message] of failing) {
    test(what, () => {
      assert.throws(() => access(content(repositoryPin, { secret: "source", repository }), known), {
        code,
        message,
      });
    });
  }

  test("uses the last version of a Secret that the hub does not have any more", () => {
    const { object } = encoded({ username: "me", password: "pw" });
    const known = object === undefined ? {} : { object };

    assert.equal(
      access(content(repositoryPin, { secret: "source", repository }), known).username,
      "me",
    );
  });
});
