import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { explainDenials, type GrantOf, type MissingRight } from "./missing-right.ts";

const agent = "system:serviceaccount:flotilla-agent:flotilla-agent";
const deployer = "system:serviceaccount:team-a:deployer";

describe("a denial of the API server", () => {
  const rows: readonly (readonly [what: string, denial: string, sentence: string])[] = [
    [
      "to read an object",
      `secrets "vault" is forbidden: User "${deployer}" cannot get resource "secrets" in API group "" in the namespace "team-b"`,
      'service account team-a/deployer may not get secrets "vault" of API group "" in namespace team-b',
    ],
    [
      "to list a kind of a group",
      `deployments.apps is forbidden: User "${deployer}" cannot list resource "deployments" in API group "apps" in the namespace "team-b"`,
      'service account team-a/deployer may not list deployments of API group "apps" in namespace team-b',
    ],
    [
      "at the cluster scope",
      `namespaces is forbidden: User "${deployer}" cannot create resource "namespaces" in API group "" at the cluster scope`,
      'service account team-a/deployer may not create namespaces of API group "" at the cluster scope',
    ],
    [
      "of a subresource, with a reason of the authorizer",
      `helmops.fleet.cattle.io "web" is forbidden: User "jane" cannot update resource "helmops/status" in API group "fleet.cattle.io" in the namespace "a": RBAC: role.rbac.authorization.k8s.io "x" not found`,
      'user "jane" may not update helmops/status "web" of API group "fleet.cattle.io" in namespace a: RBAC: role.rbac.authorization.k8s.io "x" not found',
    ],
    [
      "within an error of Helm",
      `Release not loaded: web: query: failed to query with labels: secrets is forbidden: User "${deployer}" cannot list resource "secrets" in API group "" in the namespace "team-b"; try again`,
      'Release not loaded: web: query: failed to query with labels: service account team-a/deployer may not list secrets of API group "" in namespace team-b; try again',
    ],
    [
      "twice in one text",
      `a is forbidden: User "u" cannot get resource "a" in API group "" in the namespace "n" and b is forbidden: User "u" cannot get resource "b" in API group "" in the namespace "n"`,
      'user "u" may not get a of API group "" in namespace n and user "u" may not get b of API group "" in namespace n',
    ],
  ];
  for (const [what, denial, sentence] of rows) {
    test(`${what} becomes one sentence`, () => {
      assert.equal(explainDenials(denial), sentence);
    });
  }

  const others = [
    'pods "web" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=1, limited: pods=1',
    'secrets "x" is forbidden: unable to create new content in namespace a because it is being terminated',
    "injected fault Forbidden",
  ];
  for (const text of others) {
    test(`of another reason stays as it is: ${text.slice(0, 40)}`, () => {
      assert.equal(explainDenials(text), text);
    });
  }

  test("names the value of the chart that grants the right", () => {
    const asked: MissingRight[] = [];
    const grantOf: GrantOf = (right) => {
      asked.push(right);
      return { chart: "flotilla-agent", value: "impersonation.namespaces" };
    };

    const explained = explainDenials(
      `serviceaccounts "deployer" is forbidden: User "${agent}" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "team-a"`,
      grantOf,
    );

    assert.equal(
      explained,
      'service account flotilla-agent/flotilla-agent may not impersonate serviceaccounts "deployer" of API group "" in namespace team-a; the value impersonation.namespaces of the chart flotilla-agent grants it',
    );
    assert.deepEqual(asked, [
      {
        user: agent,
        verb: "impersonate",
        resource: "serviceaccounts",
        group: "",
        namespace: "team-a",
        name: "deployer",
      },
    ]);
  });
});
