import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { formatIdentity, identityInNames, parseIdentity } from "./cluster-identity.ts";

const identity = {
  hubId: "8c1f-22",
  namespace: "fleet-default",
  name: "cluster-1.eu",
  uid: "d0-1",
};
const uri = "spiffe://flotilla/8c1f-22/cluster/fleet-default/cluster-1.eu/d0-1";

describe("the identity in an agent's certificate", () => {
  test("is one URI with hub, namespace, name and UID", () => {
    assert.equal(formatIdentity(identity), uri);
    assert.deepEqual(parseIdentity(uri), identity);
  });

  test("is unchanged by a round trip for any names", () => {
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.record({ hubId: name, namespace: name, name, uid: name }), (made) => {
        assert.deepEqual(parseIdentity(formatIdentity(made)), { ...made });
      }),
    );
  });

  for (const [why, wrong] of [
    ["another scheme", uri.replace("spiffe", "https")],
    ["another trust domain", uri.replace("flotilla", "elsewhere")],
    ["a segment more", `${uri}/x`],
    ["a segment less", uri.replace("/d0-1", "")],
    ["an empty segment", uri.replace("fleet-default", "")],
    ["a dot segment", uri.replace("fleet-default", "..")],
    ["an escaped slash", uri.replace("fleet-default", "a%2Fb")],
    ["a line end", `${uri}\n`],
  ] as const) {
    test(`is rejected with ${why}`, () => assert.equal(parseIdentity(wrong), undefined));
  }

  test("is found among other names, and rejected when there are two", () => {
    assert.deepEqual(identityInNames(`DNS:localhost, URI:${uri}`), identity);
    assert.equal(identityInNames(`URI:${uri}, URI:${uri}`), undefined);
    assert.equal(identityInNames("DNS:localhost"), undefined);
    assert.equal(identityInNames(undefined), undefined);
  });
});
