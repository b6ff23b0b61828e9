import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { AgentIdentity } from "./agent-identity.ts";
import { type Bootstrap, markOf } from "./bootstrap.ts";
import { type IdentityInputs, type IdentityStep, planIdentity } from "./plan-identity.ts";

const first: Bootstrap = { address: "hub:1", authoritiesPem: "ca", token: "token", labels: {} };
const known: AgentIdentity = {
  keyPem: "key",
  chainPem: "chain",
  authoritiesPem: "own ca",
  hubAddress: "hub:1",
  hubId: "hub",
  clientId: "client",
  bootstrapMark: markOf(first),
  cluster: { namespace: "fleet-default", name: "one", uid: "u" },
};
const keep = (hubAddress: string): IdentityStep => ({ kind: "keep", hubAddress });
function enrolWith(bootstrap: Bootstrap, clientId: string | undefined): IdentityStep {
  const { address, authoritiesPem, token } = bootstrap;
  const bootstrapMark = markOf(bootstrap);
  return {
    kind: "enroll",
    address,
    authoritiesPem,
    token,
    clientId,
    hubId: undefined,
    bootstrapMark,
  };
}
const byKey = (address: string): IdentityStep => ({
  kind: "enroll",
  address,
  authoritiesPem: "own ca",
  token: "",
  clientId: "client",
  hubId: "hub",
  bootstrapMark: markOf(first),
});
const other = { ...first, token: "other" };
const otherHub = { ...first, authoritiesPem: "other ca" };

describe("an agent", () => {
  const cases: readonly (readonly [string, IdentityInputs, IdentityStep])[] = [
    [
      "that has never enrolled and has nothing to do it with waits for it",
      { known: undefined, isGood: false, bootstrap: undefined },
      { kind: "missing" },
    ],
    [
      "that has never enrolled does so with what it was given",
      { known: undefined, isGood: false, bootstrap: { ...first, clientId: "mine" } },
      enrolWith(first, "mine"),
    ],
    ["that has enrolled stays who it is", { known, isGood: true, bootstrap: first }, keep("hub:1")],
    [
      "needs its bootstrap Secret no more",
      { known, isGood: true, bootstrap: undefined },
      keep("hub:1"),
    ],
    [
      "finds its hub at another address without enrolling, whatever labels and names it is given",
      {
        known,
        isGood: true,
        bootstrap: { ...first, address: "hub:2", labels: { a: "b" }, clusterName: "two" },
      },
      keep("hub:2"),
    ],
    [
      "enrols again when it is given another token",
      { known, isGood: true, bootstrap: other },
      enrolWith(other, "client"),
    ],
    [
      "enrols with another hub when it is given that one's authority",
      { known, isGood: true, bootstrap: otherHub },
      enrolWith(otherHub, "client"),
    ],
    [
      "whose certificate has ended comes back with its key alone, to the same hub",
      { known, isGood: false, bootstrap: undefined },
      byKey("hub:1"),
    ],
    [
      "whose certificate has ended does not use its token a second time",
      { known, isGood: false, bootstrap: { ...first, address: "hub:2" } },
      byKey("hub:2"),
    ],
    [
      "whose certificate has ended uses a token that is new to it",
      { known, isGood: false, bootstrap: { ...other, clientId: "mine" } },
      enrolWith(other, "mine"),
    ],
  ];
  for (const [what, inputs, expected] of cases) {
    test(what, () => assert.deepEqual(planIdentity(inputs), expected));
  }
});
