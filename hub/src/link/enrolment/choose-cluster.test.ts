import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api";
import {
  agentKeyAnnotation,
  clusterFinalizer,
  clusterManagementLabel,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { type ChoiceInputs, type ClusterChoice, chooseCluster, nameFor } from "./choose-cluster.ts";
import type { TokenTerms } from "./token.ts";

const revokedAt = "2026-01-02T00:00:00Z";

function cluster(
  name: string,
  key?: string,
  more: Partial<ObjectMeta> = {},
  spec: Cluster["spec"] = { clientID: "client" },
): Cluster {
  const annotations = {
    ...(key !== undefined && { [agentKeyAnnotation]: key }),
    ...more.annotations,
  };
  return { metadata: { name, ...more, annotations }, spec };
}

const token: TokenTerms = {
  namespace: "fleet-default",
  name: "first",
  uid: "u",
  createdAt: "2026-01-01T00:00:00Z",
  clusterName: undefined,
  labels: {},
  allowedClusterNames: undefined,
  allowedLabels: undefined,
};
const limited: TokenTerms = { ...token, allowedClusterNames: ["eu-*", "one"] };
const named: TokenTerms = { ...token, allowedClusterNames: ["cluster-*"] };
const forOne: TokenTerms = { ...token, clusterName: "one" };
const late: TokenTerms = { ...token, createdAt: "2026-01-02T00:00:00Z" };

const base: ChoiceInputs = {
  clientId: "client",
  fingerprint: "sha256:aa",
  clusterName: undefined,
  token,
  enrolled: [],
  named: () => undefined,
  isAwaited: () => false,
};

type Case = readonly (readonly [string, Partial<ChoiceInputs>, ClusterChoice])[];

function eachIsChosen(cases: Case): void {
  for (const [what, inputs, expected] of cases)
    test(what, () => assert.deepEqual(chooseCluster({ ...base, ...inputs }), expected));
}

const same = cluster("one", "sha256:aa");
const adoptable = cluster("one");
const foreign = cluster("one", "sha256:bb");
const terminating = cluster("one", "sha256:aa", { deletionTimestamp: revokedAt });

describe("the Cluster of an enrolling agent", () => {
  eachIsChosen([
    [
      "is created with the requested name",
      { clusterName: "eu-1" },
      { kind: "create", name: "eu-1" },
    ],
    [
      "is created with a name from its client id without a request",
      {},
      { kind: "create", name: nameFor("client") },
    ],
    [
      "is created with a name from its client id when the requested one is taken",
      { clusterName: "one", named: () => foreign },
      { kind: "create", name: nameFor("client"), instead: "taken" },
    ],
    [
      "is created with a name from its client id when a target waits for the requested one",
      { clusterName: "eu-1", isAwaited: (name) => name === "eu-1" },
      { kind: "create", name: nameFor("client"), instead: "awaited" },
    ],
    [
      "is created with the name that a target waits for when the token allows that name",
      { clusterName: "eu-1", isAwaited: () => true, token: limited },
      { kind: "create", name: "eu-1" },
    ],
    [
      "is created with the name that a target waits for when the token is for that Cluster",
      { isAwaited: () => true, token: forOne },
      { kind: "create", name: "one" },
    ],
    [
      "is not created with a name that the token does not allow",
      { clusterName: "us-1", token: limited },
      { kind: "name-rejected", name: "us-1" },
    ],
    [
      "is not created with a name from its client id that the token does not allow",
      { token: limited },
      { kind: "name-rejected", name: nameFor("client") },
    ],
    [
      "is not created with another name that the token does not allow when the requested one is taken",
      { clusterName: "one", named: () => foreign, token: limited },
      { kind: "name-rejected", name: nameFor("client") },
    ],
    [
      "is not created with another name when the requested one is taken and the token does not allow it",
      { clusterName: "us-1", named: () => foreign, token: named },
      { kind: "name-rejected", name: "us-1" },
    ],
    [
      "is not one that was created for it with a name that the token does not allow",
      { enrolled: [cluster("us-1")], token: limited },
      { kind: "name-rejected", name: "us-1" },
    ],
    [
      "is the same again whatever its name is",
      { enrolled: [cluster("us-1", "sha256:aa")], token: limited },
      { kind: "same", cluster: cluster("us-1", "sha256:aa") },
    ],
    [
      "is the same again for the same client id and key",
      { enrolled: [same] },
      { kind: "same", cluster: same },
    ],
    [
      "is the same again for the same key alone",
      { enrolled: [same], token: undefined },
      { kind: "same", cluster: same },
    ],
    [
      "is the one that was created for it",
      { enrolled: [adoptable] },
      { kind: "adopt", cluster: adoptable },
    ],
    [
      "is rejected with another key",
      { enrolled: [foreign] },
      { kind: "rejected", cluster: foreign, why: "other-key" },
    ],
    [
      "is not one that is being deleted",
      { enrolled: [terminating] },
      { kind: "rejected", cluster: terminating, why: "deleting" },
    ],
    [
      "is the oldest when two have its client id",
      {
        enrolled: [
          cluster("b", "sha256:bb", { creationTimestamp: "2026-01-02T00:00:00Z" }),
          cluster("c", "sha256:aa", { creationTimestamp: "2026-01-01T00:00:00Z" }),
        ],
      },
      {
        kind: "same",
        cluster: cluster("c", "sha256:aa", { creationTimestamp: "2026-01-01T00:00:00Z" }),
      },
    ],
  ]);

  test("is named after the first twelve digits of its client id's digest", () => {
    assert.equal(nameFor("client"), "cluster-948fe603f61d");
  });
});

describe("a Cluster that another system manages", () => {
  const managed = (value: string, key?: string) =>
    cluster("one", key, { labels: { [clusterManagementLabel]: value } });
  const cases: readonly (readonly [string, Cluster])[] = [
    ["without an agent", managed("CLI")],
    ["by the agent that was enrolled", managed("CLI", "sha256:aa")],
  ];
  eachIsChosen([
    ...cases.map(
      ([who, one]) =>
        [
          `is not enrolled ${who}`,
          { enrolled: [one] },
          { kind: "rejected", cluster: one, why: "managed-elsewhere" },
        ] as const,
    ),
    [
      "is not enrolled with a token for it",
      { token: forOne, named: () => managed("CLI") },
      { kind: "rejected", cluster: managed("CLI"), why: "managed-elsewhere" },
    ],
    [
      "is enrolled where the label is empty, as in Fleet",
      { enrolled: [managed("")] },
      { kind: "adopt", cluster: managed("") },
    ],
  ]);
});

describe("with a token for one Cluster", () => {
  const withoutKey = cluster("one", undefined, {}, {});
  const others = cluster("one", "sha256:bb", {}, { clientID: "other" });
  const elsewhere = cluster("two", "sha256:aa");
  const alone = (one: Cluster) => ({ token: forOne, named: () => one });
  eachIsChosen([
    [
      "it is created with that name, whatever the agent requests",
      { token: forOne, clusterName: "eu-1" },
      { kind: "create", name: "one" },
    ],
    [
      "it is adopted when no agent has enrolled",
      alone(withoutKey),
      { kind: "adopt", cluster: withoutKey },
    ],
    [
      "another key takes over",
      { ...alone(foreign), enrolled: [foreign] },
      { kind: "take-over", cluster: foreign },
    ],
    [
      "another key with another client id takes over",
      alone(others),
      { kind: "take-over", cluster: others },
    ],
    ["it is the same for its key", alone(same), { kind: "same", cluster: same }],
    [
      "an agent that is enrolled as another Cluster is rejected",
      { ...alone(foreign), enrolled: [elsewhere] },
      { kind: "rejected", cluster: elsewhere, why: "enrolled-elsewhere" },
    ],
    [
      "is not taken over while it is being deleted",
      alone(terminating),
      { kind: "rejected", cluster: terminating, why: "deleting" },
    ],
  ]);
});

describe("a Cluster that was revoked", () => {
  const annotations = { [revokedAtAnnotation]: revokedAt };
  const revoked = cluster("one", "sha256:aa", { annotations });
  const revokedOther = cluster("one", "sha256:bb", { annotations });
  const never = cluster("one", "sha256:bb", { annotations: { [revokedAtAnnotation]: "yes" } });
  eachIsChosen([
    [
      "is not enrolled again by its key",
      { enrolled: [revoked], token: undefined },
      { kind: "rejected", cluster: revoked, why: "revoked" },
    ],
    [
      "is not enrolled again by an older token",
      { enrolled: [revokedOther] },
      { kind: "rejected", cluster: revokedOther, why: "revoked" },
    ],
    [
      "is not enrolled again by an older token for it",
      { named: () => revokedOther, token: forOne },
      { kind: "rejected", cluster: revokedOther, why: "revoked" },
    ],
    [
      "is not enrolled again with the key that was revoked",
      { enrolled: [revoked], token: late },
      { kind: "rejected", cluster: revoked, why: "revoked-key" },
    ],
    [
      "is enrolled again by a later token and another key",
      { enrolled: [revokedOther], token: late },
      { kind: "take-over", cluster: revokedOther },
    ],
    [
      "at an invalid time is not enrolled again by any token",
      { enrolled: [never], token: late },
      { kind: "rejected", cluster: never, why: "revoked" },
    ],
  ]);
});

describe("a Cluster with deletion policy Uninstall that is deleted", () => {
  const metadata = { deletionTimestamp: revokedAt, finalizers: [clusterFinalizer] };
  const spec: Cluster["spec"] = { clientID: "client", deletionPolicy: "Uninstall" };
  const uninstalling = cluster("one", "sha256:aa", metadata, spec);
  const foreignKey = cluster("one", "sha256:bb", metadata, spec);
  eachIsChosen([
    [
      "accepts its agent by its key",
      { enrolled: [uninstalling], token: undefined },
      { kind: "same", cluster: uninstalling },
    ],
    [
      "accepts no other key, whatever the token",
      { enrolled: [foreignKey], named: () => foreignKey, token: forOne },
      { kind: "rejected", cluster: foreignKey, why: "deleting" },
    ],
  ]);
});
