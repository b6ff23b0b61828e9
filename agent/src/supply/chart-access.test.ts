import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import type { ClusterInfo } from "@flotilla/shared/referenced/cluster-info.ts";
import { homeAuthorization, isHome } from "@flotilla/shared/source/access.ts";
import type { Pin } from "@flotilla/shared/source/pin.ts";
import { describe, test } from "vitest";
import { chartAccess } from "./chart-access.ts";
import type { KnownSupply } from "./supplies.ts";

const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const facts: ClusterInfo = {
  namespace: "fleet-default",
  name: "paris",
  labels: {},
  annotations: {},
  templateValues: {},
};
const httpPin = (url: string): Pin => ({ kind: "http", version: "1.0.0", url });
const repository = "https://charts.example.com/stable";
const registry = "oci://registry.example.com/web";
const elsewhere = httpPin("https://cdn.example.net/web-1.0.0.tgz");
const atHome = httpPin("https://charts.example.com/stable/web-1.0.0.tgz");

function content(pin: Pin, access: DeploymentContent["access"]): DeploymentContent {
  return { ...plainContent, pin, access };
}

const encoded = (texts: Readonly<Record<string, string>>): KnownSupply => ({
  digest: "sha256:1",
  object: {
    data: Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    ),
  },
});

const access = (
  deployment: DeploymentContent,
  known?: KnownSupply,
  own: ClusterInfo | undefined = facts,
) => chartAccess(deployment, { supplies: { get: () => known }, facts: { get: () => own } });

describe("how an agent accesses a chart's source", () => {
  test("needs nothing where no Secret is named", () => {
    assert.deepEqual(access(content(atHome, {})), { origin: "https://charts.example.com" });
  });

  test("shows the Secret's credentials to the repository, and to nobody that its index points to", () => {
    const named = { secret: "source", repository };
    const known = encoded({ username: "me", password: "pw" });

    const home = access(content(atHome, named), known);
    const away = access(content(elsewhere, named), known);

    assert.notEqual(
      homeAuthorization(home, new URL(atHome.kind === "http" ? atHome.url : "")),
      undefined,
    );
    assert.equal(isHome(away, new URL("https://cdn.example.net/web-1.0.0.tgz")), false);
    assert.equal(away.origin, "https://charts.example.com");
  });

  test("is for the registry of an OCI repository", () => {
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

  test("is overridden by the HelmOp's own switch, and has the hub's authorities where it has none", () => {
    const known = encoded({ insecureSkipVerify: "true" });
    const named = { secret: "source", repository, insecureSkipVerify: false, caBundle: pem };

    assert.deepEqual(access(content(atHome, named), known), {
      origin: "https://charts.example.com",
      caPem: pem,
    });
    assert.deepEqual(access(content(atHome, { caBundle: pem })).caPem, pem);
  });

  const failing = [
    [
      "waits for a Secret that was not heard of yet",
      undefined,
      "SUPPLY_AWAITED",
      "waiting for the Secret fleet-default/source, with the credentials for the chart's source, which the hub has not sent yet",
    ],
    [
      "names the Secret that the hub does not have",
      {},
      "SUPPLY_MISSING",
      "the hub has no Secret fleet-default/source, which helmSecretName names; it goes on as soon as there is one",
    ],
    [
      "says what is wrong with a Secret",
      encoded({ username: "me" }),
      "REPOSITORY_SECRET_INVALID",
      "read the credentials for the chart's source from the Secret fleet-default/source of the hub: username is set in the secret, but password isn't",
    ],
  ] as const;
  for (const [what, known, code, message] of failing) {
    test(what, () => {
      assert.throws(() => access(content(atHome, { secret: "source", repository }), known), {
        code,
        message,
      });
    });
  }

  test("goes on with the last that the hub had", () => {
    const { object } = encoded({ username: "me", password: "pw" });
    const known = object === undefined ? {} : { object };

    assert.equal(access(content(atHome, { secret: "source", repository }), known).username, "me");
  });
});
