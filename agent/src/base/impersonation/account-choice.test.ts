import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { chooseAccount } from "./account-choice.ts";

describe("without required impersonation, a deployment", () => {
  test("that names no account has the default one, or the agent", () => {
    assert.deepEqual(chooseAccount(undefined, undefined), { kind: "unnamed" });
  });

  test("names an account of the agent's namespace", () => {
    assert.deepEqual(chooseAccount("deployer", undefined), {
      kind: "named",
      account: { namespace: "flotilla-agent", name: "deployer" },
    });
  });

  test("may not name an account of another namespace", () => {
    assert.throws(() => chooseAccount("team-a/deployer", undefined), {
      code: "SERVICE_ACCOUNT_DENIED",
      message:
        "service account team-a/deployer has a namespace, and this agent, which was installed without impersonation.required, impersonates only accounts of namespace flotilla-agent; set serviceAccount to the name of such an account",
    });
  });
});

describe("an account that the hub chose", () => {
  const named = "system:serviceaccount:apps:deployer.v1";

  test("may be in any namespace", () => {
    assert.deepEqual(chooseAccount(named, undefined), {
      kind: "named",
      account: { namespace: "apps", name: "deployer.v1" },
    });
  });

  test("must be in a listed namespace if impersonation is required", () => {
    assert.deepEqual(chooseAccount(named, ["apps"]), {
      kind: "named",
      account: { namespace: "apps", name: "deployer.v1" },
    });
    assert.throws(() => chooseAccount(named, ["team-a"]), {
      code: "SERVICE_ACCOUNT_DENIED",
      message:
        "service account apps/deployer.v1 is in namespace apps, of which this agent may impersonate no account (impersonation.required); add apps to the value impersonation.namespaces of the chart flotilla-agent",
    });
  });

  for (const odd of ["system:serviceaccount:apps", "system:serviceaccount:a:b:c", "system:admin"])
    test(`is not one in the form ${odd}`, () => {
      assert.deepEqual(chooseAccount(odd, undefined), {
        kind: "named",
        account: { namespace: "flotilla-agent", name: odd },
      });
      assert.throws(() => chooseAccount(odd, ["apps"]), { code: "SERVICE_ACCOUNT_REQUIRED" });
    });
});

describe("with required impersonation, a deployment", () => {
  const namespaces = ["team-a", "team-b"];

  test("names an account with its namespace", () => {
    assert.deepEqual(chooseAccount("team-b/deployer", namespaces), {
      kind: "named",
      account: { namespace: "team-b", name: "deployer" },
    });
  });

  const refused = [
    [
      "that names no account",
      undefined,
      "SERVICE_ACCOUNT_REQUIRED",
      "the deployment names no service account, and this agent acts only as one (impersonation.required); set serviceAccount to NAMESPACE/NAME of an account in one of the namespaces team-a, team-b",
    ],
    [
      "that names an account without a namespace",
      "deployer",
      "SERVICE_ACCOUNT_REQUIRED",
      "service account deployer has no namespace, and this agent impersonates no account of its own namespace (impersonation.required); set serviceAccount to NAMESPACE/NAME of an account in one of the namespaces team-a, team-b",
    ],
    [
      "that names an account of a namespace that is not listed",
      "team-c/deployer",
      "SERVICE_ACCOUNT_DENIED",
      "service account team-c/deployer is in namespace team-c, of which this agent may impersonate no account; set serviceAccount to NAMESPACE/NAME of an account in one of the namespaces team-a, team-b, or add team-c to the value impersonation.namespaces of the chart flotilla-agent",
    ],
    [
      "that names a user instead of an account",
      "team-a/a:b",
      "SERVICE_ACCOUNT_REQUIRED",
      /^service account team-a\/a:b has no namespace/,
    ],
  ] as const;
  for (const [what, named, code, message] of refused) {
    test(`${what} is refused, with what to set`, () => {
      assert.throws(() => chooseAccount(named, namespaces), { code, message });
    });
  }
});
