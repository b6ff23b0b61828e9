import assert from "node:assert/strict";
import { type HelmOp, type HelmOpStatus, helmOps } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { conflict, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, it } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { createPublisher } from "./publisher.ts";

const ref = aHelmOp().metadata;
const key = keyOf(ref);

describe("a published status", () => {
  /** The status has what was published, and the number of HelmOps. */
  function publishing() {
    const kube = createMemoryApiServer();
    const clock = createFakeClock();
    const store = createStore<HelmOp>();
    store.set(kube.put(helmOps, aHelmOp({}, { uid: "first" })));
    const publisher = createPublisher<HelmOpStatus, HelmOp>({
      rest: kube,
      resource: helmOps,
      store,
      rollUp: ({ status }) =>
        status && { version: status.version?.replace(/ of .*/, ` of ${store.size}`) },
      isUrgent: (_before, after) => after.version?.startsWith("!") === true,
      clock,
      log: silentLog(),
    });
    const helmOp = () => {
      const found = store.get(key);
      assert.ok(found !== undefined);
      return found;
    };
    return { kube, clock, store, publisher, helmOp };
  }

  it("is used until it is written, and is summarized when it is", async () => {
    const { kube, clock, publisher, helmOp } = publishing();
    assert.equal(publisher.current(helmOp()), undefined);

    publisher.publish(helmOp(), { version: "one of ?" });
    assert.deepEqual(publisher.current(helmOp()), { version: "one of ?" });
    await clock.advance(1_000);

    assert.deepEqual(kube.peek(helmOps, ref)?.status, { version: "one of 1" });
    assert.deepEqual(publisher.current(helmOp()), { version: "one of 1" });
  });

  it("belongs to its object, not to a new one of the same name", () => {
    const { store, publisher, helmOp } = publishing();
    publisher.publish(helmOp(), { version: "old" });
    store.remove(helmOp());

    store.set(aHelmOp({}, { uid: "second", resourceVersion: "99" }));

    assert.equal(publisher.current(helmOp()), undefined);
  });

  it("survives a conflict, after which it is summarized again", async () => {
    const { kube, publisher, helmOp } = publishing();
    kube.failNext(conflict());

    publisher.publish(helmOp(), { version: "!now" });
    await settle();
    await settle();

    assert.deepEqual(kube.peek(helmOps, ref)?.status, { version: "!now" });
  });
});
