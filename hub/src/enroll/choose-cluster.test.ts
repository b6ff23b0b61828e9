import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import {
  agentKeyAnnotation,
  clusterFinalizer,
  revokedAtAnnotation,
} from "@flotilla/shared/api/names.ts";
import type { ObjectMeta } from "@flotilla/shared/kube/objects/object.ts";
import { describe, test } from "vitest";
import { type ChoiceInputs, type ClusterChoice, chooseCluster, nameFor } from "./choose-cluster.ts";
import type { TokenTerms } from "./token-terms.ts";

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
  allowedLabels: undefined,
};
const forOne: TokenTerms = { ...token, clusterName: "one" };
const late: TokenTerms = { ...token, createdAt: "2026-01-02T00:00:00Z" };

const base: ChoiceInputs = {
  clientId: "client",
  fingerprint: "sha256:aa",
  clusterName: undefined,
  token,
  enrolled: [],
  named: () => undefined,
};

type Case = readonly (readonly [string, Partial<ChoiceInputs>, ClusterChoice])[];

function eachIsChosen(cases: Case): void {
  for (const [what, inputs, expected] of cases)
    test(what, () => assert.deepEqual(chooseCluster({ ...base, ...inputs }), expected));
}

const same = cluster("one", "sha256:aa");
const adoptable = cluster("one");
const foreign = cluster("one", "sha256:bb");
const going = cluster("one", "sha256:aa", { deletionTimestamp: revokedAt });

describe("the Cluster of an agent that enrols", () => {
  eachIsChosen([
    ["is new under the name asked for", { clusterName: "eu-1" }, { kind: "create", name: "eu-1" }],
    [
      "is new under a name from its client id when it asks for none",
      {},
      { kind: "create", name: nameFor("client") },
    ],
    [
      "is new under a name from its client id when the name asked for is taken",
      { clusterName: "one", named: () => foreign },
      { kind: "create", name: nameFor("client") },
    ],
    ["is the same again for the same key", { enrolled: [same] }, { kind: "same", cluster: same }],
    [
      "is the same again for the same key alone",
      { enrolled: [same], token: undefined },
      { kind: "same", cluster: same },
    ],
    [
      "is the one that was made for it beforehand",
      { enrolled: [adoptable] },
      { kind: "adopt", cluster: adoptable },
    ],
    [
      "is refused with another key",
      { enrolled: [foreign] },
      { kind: "refused", cluster: foreign, why: "other-key" },
    ],
    [
      "is not one that is being deleted",
      { enrolled: [going] },
      { kind: "refused", cluster: going, why: "going" },
    ],
    [
      "is the oldest where two have its client id",
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

describe("with a token that is for one Cluster", () => {
  const nobodys = cluster("one", undefined, {}, {});
  const others = cluster("one", "sha256:bb", {}, { clientID: "other" });
  const elsewhere = cluster("two", "sha256:aa");
  const alone = (one: Cluster) => ({ token: forOne, named: () => one });
  eachIsChosen([
    [
      "it is made under that name, whatever the agent asks for",
      { token: forOne, clusterName: "eu-1" },
      { kind: "create", name: "one" },
    ],
    ["it is adopted from nobody", alone(nobodys), { kind: "adopt", cluster: nobodys }],
    [
      "another key takes its place",
      { ...alone(foreign), enrolled: [foreign] },
      { kind: "take-over", cluster: foreign },
    ],
    [
      "another key with another client id takes its place",
      alone(others),
      { kind: "take-over", cluster: others },
    ],
    ["it is the same for its key", alone(same), { kind: "same", cluster: same }],
    [
      "an agent that is another Cluster does not become it",
      { ...alone(foreign), enrolled: [elsewhere] },
      { kind: "refused", cluster: elsewhere, why: "enrolled-elsewhere" },
    ],
    [
      "nobody takes its place while it is being deleted",
      alone(going),
      { kind: "refused", cluster: going, why: "going" },
    ],
  ]);
});

describe("a Cluster that was revoked", () => {
  const annotations = { [revokedAtAnnotation]: revokedAt };
  const revoked = cluster("one", "sha256:aa", { annotations });
  const lost = cluster("one", "sha256:bb", { annotations });
  const never = cluster("one", "sha256:bb", { annotations: { [revokedAtAnnotation]: "yes" } });
  eachIsChosen([
    [
      "is not enrolled again by its key",
      { enrolled: [revoked], token: undefined },
      { kind: "refused", cluster: revoked, why: "revoked" },
    ],
    [
      "is not enrolled again by a token of before",
      { enrolled: [lost] },
      { kind: "refused", cluster: lost, why: "revoked" },
    ],
    [
      "is not enrolled again by a token of before that is for it",
      { named: () => lost, token: forOne },
      { kind: "refused", cluster: lost, why: "revoked" },
    ],
    [
      "is not enrolled again with the key that was revoked",
      { enrolled: [revoked], token: late },
      { kind: "refused", cluster: revoked, why: "revoked-key" },
    ],
    [
      "is enrolled again by a later token and another key",
      { enrolled: [lost], token: late },
      { kind: "take-over", cluster: lost },
    ],
    [
      "at no time is enrolled again by no token",
      { enrolled: [never], token: late },
      { kind: "refused", cluster: never, why: "revoked" },
    ],
  ]);
});

describe("a Cluster that is emptied before it goes", () => {
  const metadata = { deletionTimestamp: revokedAt, finalizers: [clusterFinalizer] };
  const spec: Cluster["spec"] = { clientID: "client", deletionPolicy: "Uninstall" };
  const leaving = cluster("one", "sha256:aa", metadata, spec);
  const foreignKey = cluster("one", "sha256:bb", metadata, spec);
  eachIsChosen([
    [
      "lets its agent back in by its key",
      { enrolled: [leaving], token: undefined },
      { kind: "same", cluster: leaving },
    ],
    [
      "lets nobody else in, whatever the token",
      { enrolled: [foreignKey], named: () => foreignKey, token: forOne },
      { kind: "refused", cluster: foreignKey, why: "going" },
    ],
  ]);
});
