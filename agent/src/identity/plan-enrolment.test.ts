import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AgentIdentity } from "./agent-identity.ts";
import { type Bootstrap, bootstrapDigest } from "./bootstrap.ts";
import { type EnrolmentInputs, type EnrolmentPlan, planEnrolment } from "./plan-enrolment.ts";

const first: Bootstrap = { address: "hub:1", authoritiesPem: "ca", token: "token", labels: {} };
const enrolled: AgentIdentity = {
  keyPem: "key",
  chainPem: "chain",
  authoritiesPem: "own ca",
  hubAddress: "hub:1",
  hubId: "hub",
  clientId: "client",
  bootstrapDigest: bootstrapDigest(first),
  cluster: { namespace: "fleet-default", name: "one", uid: "u" },
};
const keep = (hubAddress: string): EnrolmentPlan => ({ kind: "keep", hubAddress });
function enrolWith(bootstrap: Bootstrap, clientId: string | undefined): EnrolmentPlan {
  const { address, authoritiesPem, token } = bootstrap;

  return {
    kind: "enroll",
    address,
    authoritiesPem,
    token,
    clientId,
    hubId: undefined,
    bootstrapDigest: bootstrapDigest(bootstrap),
  };
}
const byKey = (address: string): EnrolmentPlan => ({
  kind: "enroll",
  address,
  authoritiesPem: "own ca",
  token: "",
  clientId: "client",
  hubId: "hub",
  bootstrapDigest: bootstrapDigest(first),
});
const other = { ...first, token: "other" };
const otherHub = { ...first, authoritiesPem: "other ca" };

suite("an agent", () => {
  const cases: readonly (readonly [string, EnrolmentInputs, EnrolmentPlan])[] = [
    [
      "that has never enrolled and has nothing to do it with waits for it",
      { enrolled: undefined, isCertificateValid: false, bootstrap: undefined },
      { kind: "missing" },
    ],
    [
      "that has never enrolled does so with what it was given",
      { enrolled: undefined, isCertificateValid: false, bootstrap: { ...first, clientId: "mine" } },
      enrolWith(first, "mine"),
    ],
    [
      "that has enrolled stays who it is",
      { enrolled, isCertificateValid: true, bootstrap: first },
      keep("hub:1"),
    ],
    [
      "needs its bootstrap Secret no more",
      { enrolled, isCertificateValid: true, bootstrap: undefined },
      keep("hub:1"),
    ],
    [
      "finds its hub at another address without enrolling, whatever labels and names it is given",
      {
        enrolled,
        isCertificateValid: true,
        bootstrap: { ...first, address: "hub:2", labels: { a: "b" }, clusterName: "two" },
      },
      keep("hub:2"),
    ],
    [
      "enrols again when it is given another token",
      { enrolled, isCertificateValid: true, bootstrap: other },
      enrolWith(other, "client"),
    ],
    [
      "enrols with another hub when it is given that one's authority",
      { enrolled, isCertificateValid: true, bootstrap: otherHub },
      enrolWith(otherHub, "client"),
    ],
    [
      "whose certificate has ended comes back with its key alone, to the same hub",
      { enrolled, isCertificateValid: false, bootstrap: undefined },
      byKey("hub:1"),
    ],
    [
      "whose certificate has ended does not use its token a second time",
      { enrolled, isCertificateValid: false, bootstrap: { ...first, address: "hub:2" } },
      byKey("hub:2"),
    ],
    [
      "whose certificate has ended uses a token that is new to it",
      { enrolled, isCertificateValid: false, bootstrap: { ...other, clientId: "mine" } },
      enrolWith(other, "mine"),
    ],
  ];
  for (const [what, inputs, expected] of cases) {
    test(what, () => assert.deepEqual(planEnrolment(inputs), expected));
  }
});
