import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { agentGrants } from "./chart-grants.ts";

const user = "system:serviceaccount:flotilla-agent:flotilla-agent";
const inTeam = { user, group: "", namespace: "team-a" };
const own = { user, group: "", namespace: "flotilla-agent" };
const secretsOfTeam = { ...inTeam, verb: "list", resource: "secrets" };

describe("a right that the agent lacks", () => {
  const rows = [
    ["to impersonate an account", { ...inTeam, verb: "impersonate", resource: "serviceaccounts" }],
    ["to watch the accounts", { ...inTeam, verb: "watch", resource: "serviceaccounts" }],
  ] as const;
  for (const [what, right] of rows) {
    test(`${what} of a namespace is granted by impersonation.namespaces`, () => {
      assert.equal(agentGrants(["team-b"])(right)?.value, "impersonation.namespaces");
    });
  }

  test("on its own Secrets and on the namespace kube-system is granted by rbac.create", () => {
    const grantOf = agentGrants(["team-a"]);

    for (const right of [
      { ...own, verb: "create", resource: "secrets" },
      { user, group: "", verb: "get", resource: "namespaces", namespace: "kube-system" },
    ])
      assert.equal(grantOf(right)?.value, "rbac.create");
  });

  test("on anything is granted by rbac.create unless impersonation is required", () => {
    assert.equal(agentGrants(undefined)(secretsOfTeam)?.value, "rbac.create");
    assert.equal(agentGrants(["team-a"])(secretsOfTeam), undefined);
  });
});
