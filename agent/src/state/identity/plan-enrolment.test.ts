import assert from "node:assert/strict";
import { describe, test } from "vitest";
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

describe("an agent", () => {
  const cases: readonly (readonly [string, EnrolmentInputs, EnrolmentPlan])[] = [
    [
      "waits without an identity and a bootstrap Secret",
      { enrolled: undefined, isCertificateValid: false, bootstrap: undefined },
      { kind: "missing" },
    ],
    [
      "enrols with its bootstrap Secret without an identity",
      { enrolled: undefined, isCertificateValid: false, bootstrap: { ...first, clientId: "mine" } },
      enrolWith(first, "mine"),
    ],
    ["keeps its identity", { enrolled, isCertificateValid: true, bootstrap: first }, keep("hub:1")],
    [
      "keeps its identity without a bootstrap Secret",
      { enrolled, isCertificateValid: true, bootstrap: undefined },
      keep("hub:1"),
    ],
    [
      "connects to a new address without enrolling, even if labels and name differ",
      {
        enrolled,
        isCertificateValid: true,
        bootstrap: { ...first, address: "hub:2", labels: { a: "b" }, clusterName: "two" },
      },
      keep("hub:2"),
    ],
    [
      "enrols again with another token",
      { enrolled, isCertificateValid: true, bootstrap: other },
      enrolWith(other, "client"),
    ],
    [
      "enrols with another hub if the authority is another one",
      { enrolled, isCertificateValid: true, bootstrap: otherHub },
      enrolWith(otherHub, "client"),
    ],
    [
      "with an expired certificate enrols with its key on the same hub",
      { enrolled, isCertificateValid: false, bootstrap: undefined },
      byKey("hub:1"),
    ],
    [
      "with an expired certificate does not use its token again",
      { enrolled, isCertificateValid: false, bootstrap: { ...first, address: "hub:2" } },
      byKey("hub:2"),
    ],
    [
      "with an expired certificate uses a new token",
      { enrolled, isCertificateValid: false, bootstrap: { ...other, clientId: "mine" } },
      enrolWith(other, "mine"),
    ],
  ];
  for (const [what, inputs, expected] of cases) {
    test(what, () => assert.deepEqual(planEnrolment(inputs), expected));
  }
});
