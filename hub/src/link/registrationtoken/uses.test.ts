import assert from "node:assert/strict";
import {
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
} from "@flotilla/shared/api";
import { registrationTokenAnnotation } from "@flotilla/shared/api/names";
import { type Change, createStore } from "@flotilla/shared/kube/cache";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { aCluster } from "../../testing/index.ts";
import { countTokenUses } from "./uses.ts";

const token: ClusterRegistrationToken = {
  metadata: { name: "first", namespace: "fleet-default", uid: "u" },
  spec: {},
};

function enrolled(name: string, uid = "u"): Cluster {
  const annotations = { [registrationTokenAnnotation]: uid };
  return aCluster(name, { metadata: { uid: name, resourceVersion: uid, annotations } });
}

function start(...there: readonly Cluster[]) {
  const kube = createMemoryApiServer();
  const clock = createFakeClock(0);
  const tokens = createStore<ClusterRegistrationToken>();
  tokens.set(kube.put(clusterRegistrationTokens, token));
  const store = createStore<Cluster>();
  for (const cluster of there) store.set(cluster);
  let listener: (change: Change<Cluster>) => void = () => undefined;
  const notify = (change: Change<Cluster> | undefined) => change && listener(change);
  const uses = countTokenUses({
    rest: kube,
    tokens,
    clusters: {
      store,
      onChange(heard) {
        listener = heard;
        return () => undefined;
      },
    },
    clock,
    log: silentLog(),
  });
  return {
    kube,
    clock,
    uses,
    add: (cluster: Cluster) => notify(store.set(cluster)),
    remove: (cluster: Cluster) => notify(store.remove(cluster)),
    storedUses: () => kube.peek(clusterRegistrationTokens, token.metadata)?.status?.uses,
  };
}

describe("the uses of a token", () => {
  test("are not written while it is unused", async () => {
    const { kube, uses } = start();

    await uses.stop();

    assert.deepEqual(kube.writes, []);
  });

  test("are written at once for the first, and in a few writes for thousands", async () => {
    const { kube, clock, uses, add, storedUses } = start();

    add(enrolled("c0"));
    await clock.advance(0);
    assert.equal(storedUses(), 1);
    for (let index = 1; index < 5_000; index += 1) add(enrolled(`c${index}`));
    await clock.advance(1_000);

    assert.equal(storedUses(), 5_000);
    assert.ok(kube.writes.length <= 3, kube.writes.join());
    await uses.stop();
  });

  test("are counted after a start, and decrease with Clusters that are deleted or use another token", async () => {
    const { uses, clock, add, remove, storedUses } = start(
      enrolled("a"),
      enrolled("b"),
      enrolled("c"),
    );
    await clock.advance(1_000);
    assert.equal(storedUses(), 3);

    remove(enrolled("a"));
    add(enrolled("b", "another"));
    await uses.stop();

    assert.equal(storedUses(), 1);
  });
});
