import assert from "node:assert/strict";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import type { InventoryReader } from "../../state/inventory/inventory.ts";
import { type ReleaseRecord, recordSecretName, releaseLabels } from "./release-record.ts";
import { createReleases } from "./releases.ts";

const owner = { id: "web", uid: "u" };

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
        [releaseLabels.deployment]: owner.id,
        [releaseLabels.uid]: owner.uid,
        [releaseLabels.digest]: "d",
        [releaseLabels.revision]: String(revision),
      },
    },
  };
}

function record(revision: number, status = "deployed"): Omit<ReleaseRecord, "modifiedAtMs"> {
  return { namespace: "apps", name: "web", revision, status, owner, digest: "d", isOwn: true };
}

/** The deployment has installed the release, with any revision. */
const inventory: InventoryReader = {
  ownerOf: ({ namespace, name }) => (`${namespace}/${name}` === "apps/web" ? owner : undefined),
  revisionOf: ({ namespace, name }, revision) =>
    `${namespace}/${name}` === "apps/web" ? { revision, content: "c", digest: "d" } : undefined,
  releasesOf: (id) =>
    id === owner.id
      ? [
          {
            namespace: "apps",
            name: "web",
            uid: owner.uid,
            revisions: [],
            deploymentId: "",
            keepResources: false,
            deleteCRDResources: false,
          },
        ]
      : [],
};

async function setUp(t: TestContext) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const releases = createReleases({ rest, inventory, clock, log: silentLog() });
  const changes: string[] = [];
  releases.onChange((name) => changes.push(name));
  const ending = new AbortController();
  const running = releases.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  await releases.synced;
  /** Writes a record, and waits until the watch has delivered it. */
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

describe("Helm's storage", () => {
  test("has the highest revision number as the latest", async (t) => {
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

  test("gives no deployment a copy of its record under another name", async (t) => {
    const { rest, releases, changes } = await setUp(t);
    const copy = secret(1, "deployed");
    const { metadata } = copy;
    rest.put(secrets, {
      metadata: {
        ...metadata,
        namespace: "tenant",
        name: recordSecretName({ name: "forged", revision: 1 }),
        labels: { ...metadata.labels, name: "forged" },
      },
    });
    await settle();

    assert.deepEqual(releases.ownedBy("web"), []);
    const found = releases.latest("tenant", "forged");
    assert.equal(found?.owner, undefined);
    assert.equal(found?.digest, undefined);
    assert.equal(found?.isOwn, false);
    assert.deepEqual(changes, []);
  });

  test("notifies a deployment of a release of that name that somebody else installs", async (t) => {
    const { rest, releases, changes } = await setUp(t);
    releases.follow("shop", { namespace: "apps", name: "shop" });
    const { metadata } = secret(1, "deployed");
    rest.put(secrets, {
      metadata: { ...metadata, name: "shop", labels: { ...metadata.labels, name: "shop" } },
    });
    await settle();

    assert.deepEqual(changes, ["shop"]);
  });

  test("has the result of a Helm run before the watch delivers it", async (t) => {
    const { releases, put, latest } = await setUp(t);
    await put(1, "deployed");

    releases.ran(record(2));

    assert.equal(latest(), "2 deployed");
    await put(2, "pending-upgrade");
    assert.equal(latest(), "2 deployed", "the event of the watch is stale");
    await put(2, "deployed");
    assert.equal(latest(), "2 deployed");
    assert.equal(releases.latest("apps", "web")?.isOwn, true);
  });

  test("has a revision that was created manually after a run of the agent", async (t) => {
    const { releases, put, latest } = await setUp(t);
    releases.ran(record(1));

    await put(1, "superseded");
    await put(2, "deployed");

    assert.equal(latest(), "2 deployed");
  });

  for (const order of ["before", "after"]) {
    test(`is empty after a manual uninstall if the watch delivered the record ${order} Helm ended`, async (t) => {
      const { releases, put, remove, latest } = await setUp(t);
      if (order === "before") await put(1, "deployed");
      releases.ran(record(1));
      if (order === "after") await put(1, "deployed");

      await remove(1);

      assert.equal(latest(), undefined);
      assert.deepEqual(releases.ownedBy("web"), []);
    });
  }

  test("is empty after a delay if the record was deleted before the Helm run ended", async (t) => {
    const { clock, releases, changes, put, remove, latest } = await setUp(t);
    await put(1, "deployed");
    await remove(1);
    releases.ran(record(1));
    assert.equal(latest(), "1 deployed");
    changes.length = 0;

    await clock.advance(2_000);

    assert.equal(latest(), undefined);
    assert.deepEqual(changes, ["web"]);
  });

  test("keeps the result of a Helm run while the watch is behind and the record cannot be read", async (t) => {
    const { rest, clock, releases, put, latest } = await setUp(t);
    rest.beforeRead = () => {
      throw new Error("unavailable");
    };
    releases.ran(record(1));

    await clock.advance(10_000);
    assert.equal(latest(), "1 deployed");

    await put(1, "deployed");
    assert.deepEqual(clock.waiting(), []);
  });

  test("has the unlocked record before the watch delivers it", async (t) => {
    const { releases, put, latest } = await setUp(t);
    await put(2, "pending-upgrade");

    releases.ran(record(2, "failed"));

    assert.equal(latest(), "2 failed");
  });

  test("is empty after an uninstall before the watch delivers the deletions", async (t) => {
    const { releases, put, latest } = await setUp(t);
    await put(1, "superseded");
    await put(2, "deployed");

    releases.removed({ namespace: "apps", name: "web" });

    assert.equal(latest(), undefined);
    assert.deepEqual(releases.ownedBy("web"), []);
    assert.deepEqual(releases.history("apps", "web"), []);
  });

  for (const isFast of [false, true]) {
    test(`has the last record of an uninstall that keeps the history, with a ${isFast ? "fast" : "slow"} watch`, async (t) => {
      const { releases, put, latest } = await setUp(t);
      await put(1, "superseded");
      await put(2, "deployed");
      const kept = releases.latest("apps", "web");
      if (isFast) await put(2, "uninstalled");

      releases.removed({ namespace: "apps", name: "web" }, kept);

      assert.equal(latest(), "2 uninstalled");
      await put(2, "uninstalled");
      await put(3, "pending-install");
      assert.equal(latest(), "3 pending-install");
      assert.equal(releases.history("apps", "web").length, 3);
    });
  }

  for (const isFast of [false, true]) {
    test(`has a release that is installed again after an uninstall, with a ${isFast ? "fast" : "slow"} watch`, async (t) => {
      const { releases, put, remove, latest } = await setUp(t);
      await put(1, "superseded");
      await put(2, "deployed");
      releases.ran(record(2));

      if (isFast) {
        await remove(1);
        await remove(2);
      }
      releases.removed({ namespace: "apps", name: "web" });
      releases.ran(record(1));
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
