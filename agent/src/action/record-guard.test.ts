import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import { contentDigest, type HelmRelease } from "../record/index.ts";
import { readRecordsHere } from "../record/testing/index.ts";
import { createRecordGuard } from "./record-guard.ts";

const place = { namespace: "apps", name: "web" };

function config(name: string, namespace?: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${namespace === undefined ? "" : `  namespace: ${namespace}\n`}`;
}

interface Fields extends Partial<HelmRelease> {
  readonly hooks?: string;
}

function release({ hooks = "[]", ...fields }: Fields = {}): HelmRelease {
  const { manifest = `---\n# Source: web/templates/config.yaml\n${config("settings")}` } = fields;
  return {
    ...place,
    revision: 1,
    status: "deployed",
    manifest,
    content: contentDigest(manifest, JSON.parse(hooks)),
    tests: [],
    chartName: "",
    chartVersion: "",
    appVersion: "",
    ...fields,
  };
}

const hook = JSON.stringify([{ manifest: config("grant", "kube-system"), events: ["pre-delete"] }]);

/** `records`: newest first. `own`: the revisions as the agent created them. */
function guard(records: readonly HelmRelease[], own: readonly HelmRelease[]) {
  return createRecordGuard({
    stored: { readAll: () => Promise.resolve(records) },
    records: readRecordsHere,
    inventory: {
      revisionOf(_, revision) {
        const found = own.find((each) => each.revision === revision);
        return found && { revision, content: found.content };
      },
    },
  });
}

function actor(as: "agent" | "account", isForced = false) {
  // Nothing is requested by the guard.
  const client = {
    subject: as,
    isAgent: as === "agent",
    helmArgs: [],
  } as unknown as ImpersonatedClient;
  return { client, isForced };
}

const stopped = { code: "RELEASE_NOT_OURS" };
const withForeignObject = release({ manifest: config("target", "kube-system") });

describe("before a release is uninstalled", () => {
  test("the hooks of the agent's own record may run, whoever acts", async () => {
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
    assert.deepEqual(await guard([own], [own]).beforeTests(place, 1), { mayRun: true });
  });

  test("a revision that somebody has changed is not tested", async () => {
    assert.deepEqual(await guard([own], [release()]).beforeTests(place, 1), { mayRun: false });
  });

  test("nothing is tested if there is a newer revision, which Helm would take", async () => {
    const newer = { ...own, revision: 2 };

    assert.deepEqual(await guard([newer, own], [own]).beforeTests(place, 1), { mayRun: false });
    assert.deepEqual(await guard([], [own]).beforeTests(place, 1), { mayRun: false });
  });
});
