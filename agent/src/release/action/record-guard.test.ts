import assert from "node:assert/strict";
import { configMaps, type KubeObject } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { ownershipMarks } from "../../helm/cli/ownership.ts";
import { contentDigest, type StoredRelease } from "../../helm/record/stored-release.ts";
import { readRecordsHere } from "../../helm/record/testing/index.ts";
import { createRecordGuard } from "./record-guard.ts";

const place = { namespace: "apps", name: "web" };

function config(name: string, namespace?: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${namespace === undefined ? "" : `  namespace: ${namespace}\n`}`;
}

interface Fields extends Partial<Omit<StoredRelease, "hooks">> {
  readonly hooks?: string;
}

function release({ hooks = "[]", ...fields }: Fields = {}): StoredRelease {
  const { manifest = `---\n# Source: web/templates/config.yaml\n${config("settings")}` } = fields;
  return {
    ...place,
    revision: 1,
    status: "deployed",
    manifest,
    content: contentDigest(manifest, JSON.parse(hooks)),
    tests: [],
    hooks: [],
    chartName: "",
    chartVersion: "",
    appVersion: "",
    ...fields,
  };
}

const hook = JSON.stringify([{ manifest: config("grant", "kube-system"), events: ["pre-delete"] }]);

/** `records`: newest first. `own`: the revisions as the agent created them. `read`: those of them that Helm has not printed. */
function guard(
  records: readonly StoredRelease[],
  own: readonly StoredRelease[],
  read: readonly StoredRelease[] = [],
) {
  return createRecordGuard({
    stored: { readAll: () => Promise.resolve(records) },
    records: readRecordsHere,
    inventory: {
      revisionOf(_, revision) {
        const found = own.find((each) => each.revision === revision);
        return (
          found && {
            ...{ revision, content: found.content },
            ...(read.includes(found) && { fromRecord: true as const }),
          }
        );
      },
    },
  });
}

/** `live`: the objects of the cluster. */
function actor(as: "agent" | "account", isForced = false, live: readonly KubeObject[] = []) {
  const server = createMemoryApiServer();
  for (const object of live) server.put(configMaps, object);
  // Discovery is not asked for kinds that are built in.
  const client = { isAgent: as === "agent", rest: server };
  return { client, isForced, signal: new AbortController().signal };
}

const stopped = { code: "RELEASE_NOT_OURS" };
const withForeignObject = release({ manifest: config("target", "kube-system") });

describe("before a release is uninstalled", () => {
  test("the hooks of the agent's own record may run, no matter who acts", async () => {
    const own = release({ hooks: hook });

    for (const as of ["agent", "account"] as const)
      assert.deepEqual(await guard([own], [own]).beforeUninstall(place, actor(as)), {
        withoutHooks: false,
      });
  });

  test("no hook runs of a record that was changed", async () => {
    const changed = guard([release({ hooks: hook })], [release()]);

    for (const as of ["agent", "account"] as const)
      assert.deepEqual(await changed.beforeUninstall(place, actor(as)), { withoutHooks: true });
  });

  test("a newer revision of somebody else runs no hooks, and deletes what the agent applied", async () => {
    const records = [release({ revision: 2, hooks: hook }), release()];

    assert.deepEqual(await guard(records, [release()]).beforeUninstall(place, actor("agent")), {
      withoutHooks: true,
    });
  });

  test("the agent itself deletes no object that it never applied", async () => {
    const forged = guard([{ ...withForeignObject, revision: 2 }, release()], [release()]);

    await assert.rejects(forged.beforeUninstall(place, actor("agent")), (thrown: unknown) => {
      assert.match(
        String(thrown),
        /release apps\/web is not uninstalled: revision 2, .* ConfigMap kube-system\/target; no service account limits/,
      );
      return true;
    });
    await assert.rejects(forged.beforeUninstall(place, actor("agent")), stopped);
    assert.deepEqual(await forged.beforeUninstall(place, actor("account")), { withoutHooks: true });
    assert.deepEqual(await forged.beforeUninstall(place, actor("agent", true)), {
      withoutHooks: true,
    });
  });

  test("a copy of an own record of another release or revision is not the agent's", async () => {
    for (const copied of [{ revision: 2 }, { name: "shop" }, { namespace: "tenant" }]) {
      const own = release({ manifest: config("settings", "kube-system") });
      const copy = { ...own, ...copied };
      const { withoutHooks } = await guard([copy], [own]).beforeUninstall(place, actor("account"));
      assert.equal(withoutHooks, true, JSON.stringify(copied));
    }
  });

  const ambiguous = [
    [
      "an object after the separator",
      "--- {apiVersion: v1, kind: Namespace, metadata: {name: x}}\n",
    ],
    ["several JSON documents", '{"kind": "A"}{"kind": "B"}'],
    [
      "a list in a list",
      "kind: List\napiVersion: v1\nitems: [{kind: List, apiVersion: v1, metadata: {name: a}}]\n",
    ],
    ["an object without a name", "apiVersion: v1\nkind: Namespace\n"],
  ] as const;
  for (const [what, manifest] of ambiguous)
    test(`a manifest that Helm may read differently is not deleted by: ${what}`, async () => {
      const forged = guard([release({ revision: 2, manifest }), release()], [release()]);

      await assert.rejects(forged.beforeUninstall(place, actor("agent")), stopped);
    });
});

describe("before a release is upgraded", () => {
  test("every record that Helm may compare with is checked", async () => {
    // Helm compares with the last deployed revision, not with a later failed one.
    const records = [
      release({ revision: 3, status: "failed" }),
      { ...withForeignObject, revision: 2 },
      release(),
    ];
    const own = [release({ revision: 3 }), release()];

    await assert.rejects(guard(records, own).beforeUpgrade(place, actor("agent")), stopped);
    await guard(records, own).beforeUpgrade(place, actor("account"));
  });

  test("a release that somebody installed by hand is stopped until it is forced", async () => {
    const manual = guard([release()], []);

    await assert.rejects(manual.beforeUpgrade(place, actor("agent")), stopped);
    await manual.beforeUpgrade(place, actor("agent", true));
  });

  test("a rollback by hand to a revision of the agent is upgraded", async () => {
    const records = [release({ revision: 2 }), release({ status: "superseded" })];

    await guard(records, [release()]).beforeUpgrade(place, actor("agent"));
  });

  test("a release that was uninstalled with its history is installed over, of anybody, and never rolled back", async () => {
    const records = [release({ revision: 2, status: "uninstalled" })];

    await guard(records, []).beforeUpgrade(place, actor("agent"));
    await assert.rejects(guard(records, []).beforeRollback(place, actor("agent")), stopped);
  });

  test("a deployed record of others is checked, also behind one that is said to be uninstalled", async () => {
    const records = [release({ revision: 3, status: "uninstalled" }), withForeignObject];

    await assert.rejects(guard(records, []).beforeUpgrade(place, actor("agent")), stopped);
  });

  test("Helm may roll back to a record of the agent, and to no other", async () => {
    const forged = release({ revision: 2, manifest: config("other") });

    const own = await guard([release()], [release()]).beforeUpgrade(place, actor("account"));
    const other = await guard([forged, release()], [release()]).beforeUpgrade(
      place,
      actor("account"),
    );

    assert.equal(own.mayRollBack, true);
    assert.equal(other.mayRollBack, false);
  });
});

describe("before the tests of a release", () => {
  const testHook = JSON.stringify([{ manifest: config("smoke"), events: ["test"] }]);
  const own = release({ hooks: testHook });

  test("the newest revision may be tested if it is the agent's own", async () => {
    assert.deepEqual(await guard([own], [own]).beforeTests(place, 1, actor("agent")), {
      mayRun: true,
    });
  });

  test("a revision that somebody has changed is not tested", async () => {
    assert.deepEqual(await guard([own], [release()]).beforeTests(place, 1, actor("agent")), {
      mayRun: false,
    });
  });

  test("nothing is tested if there is a newer revision, which Helm would take", async () => {
    const newer = { ...own, revision: 2 };

    assert.deepEqual(await guard([newer, own], [own]).beforeTests(place, 1, actor("agent")), {
      mayRun: false,
    });
    assert.deepEqual(await guard([], [own]).beforeTests(place, 1, actor("agent")), {
      mayRun: false,
    });
  });
});

describe("a record that was read after a run of Helm that printed nothing", () => {
  const live = (name: string, namespace: string, annotations = {}): KubeObject => ({
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: { name, namespace, annotations },
  });
  const { annotations } = ownershipMarks(place);
  const failed = release({ status: "failed", hooks: hook });
  const read = guard([failed], [failed], [failed]);

  test("runs no hook as the agent itself, and those that it has as an account", async () => {
    assert.deepEqual(await read.beforeUninstall(place, actor("agent")), { withoutHooks: true });
    assert.deepEqual(await read.beforeUninstall(place, actor("account")), { withoutHooks: false });
  });

  test("is not tested by the agent itself", async () => {
    assert.deepEqual(await read.beforeTests(place, 1, actor("agent")), { mayRun: false });
    assert.deepEqual(await read.beforeTests(place, 1, actor("account")), { mayRun: true });
  });

  test("is not a target of a rollback by the agent itself", async () => {
    const deployed = release({ hooks: hook });
    const found = guard([deployed], [deployed], [deployed]);

    assert.equal((await found.beforeUpgrade(place, actor("agent"))).mayRollBack, false);
    assert.equal((await found.beforeUpgrade(place, actor("account"))).mayRollBack, true);
  });

  test("lets the agent itself delete what Helm has marked, and what is not there", async () => {
    const forged = { ...withForeignObject, status: "failed" };
    const guarded = guard([forged], [forged], [forged]);

    for (const objects of [[], [live("target", "kube-system", annotations)]]) {
      await guarded.beforeUninstall(place, actor("agent", false, objects));
      await guarded.beforeUpgrade(place, actor("agent", false, objects));
    }
  });

  test("lets it go on with an object whose kind is gone, and not with one whose kind is not served now", async () => {
    const manifest = "apiVersion: example.com/v1\nkind: Car\nmetadata: {name: fast}\n";
    const cars = release({ manifest, status: "failed" });
    const guarded = guard([cars], [cars], [cars]);
    const agent = actor("agent");
    await guarded.beforeUninstall(place, agent);

    const versions = [{ groupVersion: "example.com/v1", version: "v1" }];
    agent.client.rest.rawResponses.set("/apis/example.com", JSON.stringify({ versions }));

    await assert.rejects(guarded.beforeUninstall(place, agent), stopped);
  });

  test("does not let it delete what exists without the marks of the release", async () => {
    const forged = { ...withForeignObject, status: "failed" };
    const guarded = guard([forged], [forged], [forged]);
    const other = { ...annotations, "meta.helm.sh/release-name": "other" };

    for (const marks of [{}, other]) {
      const agent = actor("agent", false, [live("target", "kube-system", marks)]);
      await assert.rejects(guarded.beforeUninstall(place, agent), stopped);
      await assert.rejects(guarded.beforeUpgrade(place, agent), stopped);
    }
  });
});
