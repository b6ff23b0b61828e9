import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { accessKey, accessTo, homeAuthorization, isHome, withoutSecrets } from "./access.ts";

const http = accessTo(
  { kind: "http", repository: "https://charts.example.org/a", chart: "x" },
  { username: "me", password: "secret" },
);
const oci = accessTo(
  { kind: "oci", repository: "oci://docker.io/library/x" },
  { username: "me", password: "secret" },
);

describe("credentials", () => {
  const cases: readonly (readonly [access: typeof http, url: string, home: boolean])[] = [
    [http, "https://charts.example.org/other", true],
    [http, "https://charts.example.org:8443/a", false],
    [http, "https://cdn.example.org/a", false],
    [http, "http://charts.example.org/a", false],
    [oci, "https://registry-1.docker.io/v2/", true],
    [oci, "http://registry-1.docker.io/v2/", true],
    [oci, "https://auth.docker.io/token", false],
  ];
  for (const [access, url, home] of cases) {
    it(`${home ? "are" : "are not"} for ${url} when they are for ${access.origin}`, () => {
      assert.equal(isHome(access, new URL(url)), home);
      assert.equal(homeAuthorization(access, new URL(url)) !== undefined, home);
    });
  }

  it("are masked in a text that a server sent", () => {
    const basic = Buffer.from("me:secret").toString("base64");

    assert.equal(withoutSecrets(`bad: Basic ${basic}, secret!`, http), "bad: Basic ***, ***!");
  });

  it("distinguish two accesses", () => {
    assert.notEqual(accessKey(http), accessKey({ ...http, password: "other" }));
    assert.equal(accessKey(http), accessKey({ ...http }));
  });
});
