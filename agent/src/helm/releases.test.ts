import assert from "node:assert/strict";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock, settle } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, type TestContext, test } from "vitest";
import { type ReleaseRecord, recordSecretName, releaseLabels } from "./release-record.ts";
import { createReleases } from "./releases.ts";

const owner = { name: "web", uid: "u" };

function secret(revision: number, status: string): Secret {
  return {
    metadata: {
      namespace: "apps",
      name: recordSecretName({ name: "web", revision }),
      labels: {
        owner: "helm",
        name: "web",
        version: String(revision),
        status,
        [releaseLabels.deployment]: owner.name,
        [releaseLabels.uid]: owner.uid,
        [releaseLabels.digest]: "d",
        [releaseLabels.revision]: String(revision),
      },
    },
  };
}

function left(revision: number, status = "deployed"): Omit<ReleaseRecord, "modifiedAtMs"> {
  return { namespace: "apps", name: "web", revision, status, owner, digest: "d", isOurs: true };
}

async function setUp(t: TestContext) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const releases = createReleases({ rest, clock, log: silentLog() });
  const changes: string[] = [];
  releases.onChange((name) => changes.push(name));
  const ending = new AbortController();
  const running = releases.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  await releases.synced;
  /** As somebody or Helm writes it, and the watch has told of it. */
  async function put(revision: number, status: string): Promise<void> {
    rest.put(secrets, secret(revision, status));
    await settle();
  }
  async function remove(revision: number): Promise<void> {
    await rest.delete(secrets, secret(revision, "").metadata);
    await settle();
  }
  const latest = (): string | undefined => {
    const found = releases.latest("apps", "web");
    return found === undefined ? undefined : `${found.revision} ${found.status}`;
  };
  return { rest, clock, releases, changes, put, remove, latest };
}

describe("what Helm's storage says", () => {
  test("is the newest revision, by number and not by text", async (t) => {
    const { releases, changes, put, latest } = await setUp(t);

    await put(9, "superseded");
    await put(10, "deployed");

    assert.equal(latest(), "10 deployed");
    assert.deepEqual(
      releases.ownedBy("web").map(({ revision }) => revision),
      [10],
    );
    assert.deepEqual(changes, ["web", "web"]);
    assert.equal(releases.latest("apps", "other"), undefined);
  });

  test("is what a run of Helm made, before the watch tells it", async (t) => {
    const { releases, put, latest } = await setUp(t);
    await put(1, "deployed");

    releases.ran(left(2));

    assert.equal(latest(), "2 deployed");
    await put(2, "pending-upgrade");
    assert.equal(latest(), "2 deployed", "the watch is behind");
    await put(2, "deployed");
    assert.equal(latest(), "2 deployed");
    assert.equal(releases.latest("apps", "web")?.isOurs, true);
  });

  test("is a revision that somebody makes after a run of ours", async (t) => {
    const { releases, put, latest } = await setUp(t);
    releases.ran(left(1));

    await put(1, "superseded");
    await put(2, "deployed");

    assert.equal(latest(), "2 deployed");
  });

  for (const order of ["before", "after"]) {
    test(`is nothing when somebody uninstalls what was told ${order} Helm ended`, async (t) => {
      const { releases, put, remove, latest } = await setUp(t);
      if (order === "before") await put(1, "deployed");
      releases.ran(left(1));
      if (order === "after") await put(1, "deployed");

      await remove(1);

      assert.equal(latest(), undefined);
      assert.deepEqual(releases.ownedBy("web"), []);
    });
  }

  test("is nothing soon after somebody deleted it within the run of Helm, all of it told before that ended", async (t) => {
    const { clock, releases, changes, put, remove, latest } = await setUp(t);
    await put(1, "deployed");
    await remove(1);
    releases.ran(left(1));
    assert.equal(latest(), "1 deployed");
    changes.length = 0;

    await clock.advance(2_000);

    assert.equal(latest(), undefined);
    assert.deepEqual(changes, ["web"]);
  });

  test("is what Helm made for as long as the watch is behind, also when it cannot be looked for", async (t) => {
    const { rest, clock, releases, put, latest } = await setUp(t);
    rest.beforeRead = () => {
      throw new Error("away");
    };
    releases.ran(left(1));

    await clock.advance(10_000);
    assert.equal(latest(), "1 deployed");

    await put(1, "deployed");
    assert.deepEqual(clock.waiting(), []);
  });

  test("is unlocked as soon as we have unlocked it", async (t) => {
    const { releases, put, latest } = await setUp(t);
    await put(2, "pending-upgrade");

    releases.ran(left(2, "failed"));

    assert.equal(latest(), "2 failed");
  });

  test("is nothing as soon as we have uninstalled it, though the watch is behind", async (t) => {
    const { releases, put, latest } = await setUp(t);
    await put(1, "superseded");
    await put(2, "deployed");

    releases.removed({ namespace: "apps", name: "web" });

    assert.equal(latest(), undefined);
    assert.deepEqual(releases.ownedBy("web"), []);
    assert.deepEqual(releases.history("apps", "web"), []);
  });

  for (const isFast of [false, true]) {
    test(`is what was installed anew after it was uninstalled, the watch being ${isFast ? "faster" : "slower"}`, async (t) => {
      const { releases, put, remove, latest } = await setUp(t);
      await put(1, "superseded");
      await put(2, "deployed");
      releases.ran(left(2));

      if (isFast) {
        await remove(1);
        await remove(2);
      }
      releases.removed({ namespace: "apps", name: "web" });
      releases.ran(left(1));
      assert.equal(latest(), "1 deployed");
      if (!isFast) {
        await remove(1);
        await remove(2);
      }
      await put(1, "deployed");

      assert.equal(latest(), "1 deployed");
      assert.equal(releases.history("apps", "web").length, 1);
    });
  }
});
