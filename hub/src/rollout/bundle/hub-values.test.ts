import assert from "node:assert/strict";
import { type Bundle, formatObjectRef, type RolloutStrategy } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { createSentObject } from "../../rules/referenced/sent-object.ts";
import type { WorkspaceObject } from "../../rules/referenced/workspace-object.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { aBundle, workspace } from "../../testing/index.ts";
import { createHubValues, type ReadValues } from "./hub-values.ts";

const stages: RolloutStrategy = { stages: [{ name: "all" }] };
const settings = { kind: "ConfigMap", name: "apps/settings", key: "values.yaml" } as const;
const login = { kind: "Secret", name: "apps/login", key: "password" } as const;

/** Those of the namespace `apps`, by `Secret/NAME`; others are absent. */
function setUp(
  objects: Readonly<Record<string, Readonly<Record<string, string>> | "unknown">>,
  key = "key",
) {
  const watched: string[] = [];
  const values = createHubValues({
    signer: createPinSigner(Buffer.from(key)),
    objects: {
      watch: (namespace, ref) => void watched.push(`${namespace} ${formatObjectRef(ref)}`),
      unwatch(namespace, ref) {
        watched.splice(watched.indexOf(`${namespace} ${formatObjectRef(ref)}`), 1);
      },
      known(namespace, ref) {
        const data = namespace === "apps" ? objects[formatObjectRef(ref)] : undefined;
        if (data === "unknown") return Promise.reject(new Error("connection refused"));
        const object = { data: data ?? {} };
        const found: WorkspaceObject =
          data === undefined
            ? { kind: "absent" }
            : { kind: "present", resourceVersion: "1", object, sent: createSentObject(object) };
        return Promise.resolve(found);
      },
    },
  });
  return { values, watched };
}

function aRelease(
  valuesFrom: NonNullable<
    NonNullable<NonNullable<Bundle["spec"]["helmOpOptions"]>["origin"]>["valuesFrom"]
  >,
  rolloutStrategy: RolloutStrategy = stages,
): Bundle {
  const origin = { kind: "HelmRelease", name: "web", valuesFrom: [...valuesFrom] } as const;
  return aBundle({ rolloutStrategy, helmOpOptions: { origin } });
}

async function saltOf(values: Promise<ReadValues | undefined>): Promise<string> {
  return (await values)?.sources[0]?.salt ?? "";
}

describe("the values of a Bundle with stages", () => {
  test("are the keys that it names, as they are now, and nothing else of the objects", async () => {
    const { values } = setUp({
      "ConfigMap/settings": { "values.yaml": "size: 1", other: "x" },
      "Secret/login": { password: "aHVudGVyMg==", username: "bWU=" },
    });

    const read = await values.of(aRelease([settings, login]));

    assert.deepEqual(
      read?.sources.map(({ salt: _, ...source }) => source),
      [
        { ...settings, object: { data: { "values.yaml": "size: 1" } } },
        { ...login, object: { data: { password: "aHVudGVyMg==" } } },
      ],
    );
  });

  test("have another version when one of them is another one", async () => {
    const versionWith = async (text: string) =>
      (
        await setUp({ "ConfigMap/settings": { "values.yaml": text } }).values.of(
          aRelease([settings]),
        )
      )?.version;

    assert.equal(await versionWith("size: 1"), await versionWith("size: 1"));
    assert.notEqual(await versionWith("size: 1"), await versionWith("size: 2"));
  });

  test("have a salt that nobody can compute without the key of the hub", async () => {
    const objects = { "Secret/login": { password: "aHVudGVyMg==" } };
    const release = aRelease([login]);

    const salt = await saltOf(setUp(objects).values.of(release));

    assert.equal(await saltOf(setUp(objects).values.of(release)), salt);
    assert.notEqual(await saltOf(setUp(objects, "another").values.of(release)), salt);
  });

  test("are none where an optional object does not exist", async () => {
    const { values } = setUp({});

    assert.deepEqual((await values.of(aRelease([{ ...login, optional: true }])))?.sources, []);
  });

  test.each([
    ["does not exist", {}, /there is no Secret apps\/login, which valuesFrom references: /],
    [
      "cannot be read",
      { "Secret/login": "unknown" as const },
      /Secret apps\/login, which valuesFrom references, cannot be read: connection refused: /,
    ],
  ])("are refused by name where an object %s", async (_, objects, message) => {
    await assert.rejects(setUp(objects).values.of(aRelease([login])), message);
  });
});

test("a Bundle without stages has no values of its own, and its objects are not watched", async () => {
  const { values, watched } = setUp({ "Secret/login": { password: "" } });

  assert.equal(await values.of(aRelease([login], { maxUnavailable: 1 })), undefined);
  assert.deepEqual(watched, []);
});

test("the objects are watched while a Bundle has values of them, and enqueue it", async () => {
  const { values, watched } = setUp({
    "ConfigMap/settings": { "values.yaml": "" },
    "Secret/login": { password: "" },
  });
  const bundle = aRelease([settings, login]);
  const users = () => values.keysUsing("apps", { kind: "Secret", name: "login" });
  await values.of(bundle);
  await values.of(bundle);
  assert.deepEqual(watched, ["apps ConfigMap/settings", "apps Secret/login"]);
  assert.deepEqual(users(), [keyOf(bundle)]);
  assert.deepEqual(values.keysUsing(workspace, { kind: "Secret", name: "login" }), []);

  await values.of(aRelease([settings]));
  assert.deepEqual(watched, ["apps ConfigMap/settings"]);
  assert.deepEqual(users(), []);

  values.forget(keyOf(bundle));
  assert.deepEqual(watched, []);
});
