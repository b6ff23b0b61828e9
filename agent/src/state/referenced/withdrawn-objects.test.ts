import assert from "node:assert/strict";
import { formatObjectRef } from "@flotilla/shared/api";
import { silentLog } from "@flotilla/shared/log";
import { referencedObjectsOf } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import { testRelease } from "../../testing/index.ts";
import { createReferrers } from "../assignment/content-index.ts";
import { deletedOnHubWarning } from "./require-object.ts";
import { createWithdrawnObjects } from "./withdrawn-objects.ts";

const source = { kind: "Secret", name: "source" } as const;
const settings = { kind: "ConfigMap", name: "settings" } as const;

describe("the referrers of an object", () => {
  test("are the deployments that use it as credentials or as downstream resource", async () => {
    const invalid = { ...(await testRelease("invalid")), content: Buffer.from("nonsense") };
    const assignments = [
      await testRelease("a", { access: { secret: "source" } }),
      await testRelease("b", { copies: [settings] }),
      await testRelease("c", { access: { secret: "source" }, copies: [settings] }),
      await testRelease("d"),
      invalid,
    ];
    const referrers = createReferrers({ list: () => assignments }, referencedObjectsOf);

    assert.deepEqual(await referrers.of(formatObjectRef(source)), ["a", "c"]);
    assert.deepEqual(await referrers.of(formatObjectRef(settings)), ["b", "c"]);
    assert.deepEqual(await referrers.of("ConfigMap/source"), []);
  });
});

describe("an object that the hub withdrew", () => {
  async function setUp() {
    const assignments = [await testRelease("orphan", { access: { secret: "source" } })];
    const removed: string[] = [];
    const withdrawn = createWithdrawnObjects({
      referenced: {
        remove: (ref) => {
          removed.push(formatObjectRef(ref));
          return Promise.resolve();
        },
      },
      referrers: createReferrers({ list: () => assignments }, referencedObjectsOf),
      log: silentLog(),
    });
    return { assignments, removed, withdrawn };
  }

  test("is removed at once if no deployment references it", async () => {
    const { removed, withdrawn } = await setUp();

    await withdrawn.withdraw(settings);

    assert.deepEqual(removed, ["ConfigMap/settings"]);
  });

  test("stays while a deployment references it, and is removed with the deployment", async () => {
    const { assignments, removed, withdrawn } = await setUp();

    await withdrawn.withdraw(source);
    await withdrawn.removeUnreferenced();
    assert.deepEqual(removed, []);

    assignments.pop();
    await withdrawn.removeUnreferenced();
    await withdrawn.removeUnreferenced();
    assert.deepEqual(removed, ["Secret/source"]);
  });

  test("stays if the hub sends it again", async () => {
    const { assignments, removed, withdrawn } = await setUp();
    await withdrawn.withdraw(source);

    withdrawn.cancel(source);
    assignments.pop();
    await withdrawn.removeUnreferenced();

    assert.deepEqual(removed, []);
  });

  test("stays if the hub sends it again while its referrers are read", async () => {
    const { removed, withdrawn } = await setUp();

    const withdrawing = withdrawn.withdraw(settings);
    withdrawn.cancel(settings);
    await withdrawing;

    assert.deepEqual(removed, []);
  });
});

describe("an object that the hub does not have any more", () => {
  test("is the only object that the warning names", () => {
    const known = new Map([
      ["Secret/source", {}],
      ["ConfigMap/settings", { digest: "sha256:1" }],
    ]);
    const get = {
      get: (ref: Parameters<typeof formatObjectRef>[0]) => known.get(formatObjectRef(ref)),
    };

    assert.equal(deletedOnHubWarning(["ConfigMap/settings", "Secret/unknown"], get), undefined);
    assert.equal(
      deletedOnHubWarning(["ConfigMap/settings", "Secret/source"], get),
      "the hub does not have the Secret source any more; what was installed with it stays",
    );
  });
});
