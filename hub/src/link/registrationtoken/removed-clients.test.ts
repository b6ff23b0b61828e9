import assert from "node:assert/strict";
import {
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  maxRemovedClients,
} from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { clientDigest } from "../../base/clusterstate/cluster-namespace.ts";
import { isRemoved } from "../enrolment/token.ts";
import { recordRemovedClient, withRemovedClient } from "./removed-clients.ts";

const signal = new AbortController().signal;

function aToken(
  status: ClusterRegistrationToken["status"] = {},
  spec: ClusterRegistrationToken["spec"] = {},
): ClusterRegistrationToken {
  return { metadata: { name: "first", namespace: "fleet-default", uid: "u" }, spec, status };
}

/** A cache, and an API server that may be ahead of it. */
function start(cached: ClusterRegistrationToken, ...later: ClusterRegistrationToken[]) {
  const kube = createMemoryApiServer();
  const tokens = createStore<ClusterRegistrationToken>();
  tokens.set(kube.put(clusterRegistrationTokens, cached));
  for (const token of later) kube.put(clusterRegistrationTokens, token);
  return {
    kube,
    remember: (token = "u", client = "a") =>
      recordRemovedClient({ rest: kube, tokens }, { token, client }, signal),
    statusOnServer: () => kube.peek(clusterRegistrationTokens, cached.metadata)?.status,
  };
}

describe("a client whose Cluster was removed", () => {
  test("is recorded in its token, and other fields stay", async () => {
    const { remember, statusOnServer } = start(aToken({ uses: 3, removedClients: ["b"] }));

    await remember();

    assert.deepEqual(statusOnServer(), { uses: 3, removedClients: ["b", "a"] });
  });

  test("is recorded once", async () => {
    const { kube, remember } = start(aToken({ removedClients: ["a"] }));

    await remember();

    assert.deepEqual(kube.writes, []);
  });

  test("is recorded after a conflict with another writer", async () => {
    const { remember, statusOnServer } = start(aToken({ uses: 3 }), aToken({ uses: 4 }));

    await remember();

    assert.deepEqual(statusOnServer(), { uses: 4, removedClients: ["a"] });
  });

  test("of a token that was deleted or created again is not recorded", async () => {
    const recreated = { ...aToken(), metadata: { ...aToken().metadata, uid: "v" } };
    const { kube, remember, statusOnServer } = start(recreated);

    await remember("u");

    assert.deepEqual(statusOnServer(), {});
    assert.deepEqual(kube.writes, []);
  });

  test("replaces the oldest one in a full list", () => {
    const full = Array.from({ length: maxRemovedClients }, (_, index) => `c${index}`);

    const next = withRemovedClient(aToken({ removedClients: full }), "a");

    assert.deepEqual([next?.length, next?.[0], next?.at(-1)], [maxRemovedClients, "c1", "a"]);
  });

  const remembered = { removedClients: [clientDigest("gone")] };
  const cases: readonly (readonly [string, ClusterRegistrationToken, string, boolean])[] = [
    ["cannot use that token again", aToken(remembered), "gone", true],
    ["does not use up the token for others", aToken(remembered), "other", false],
    [
      "expires a token that was for its Cluster alone",
      aToken(remembered, { clusterName: "one" }),
      "other",
      true,
    ],
  ];
  for (const [what, token, client, is] of cases)
    test(what, () => assert.equal(isRemoved(token, client), is));
});
