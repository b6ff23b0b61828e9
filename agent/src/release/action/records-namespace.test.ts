import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { type ReleaseRecord, recordOf, recordSecretName } from "../../helm/cli/release-record.ts";
import { readRecordsHere } from "../../helm/record/testing/index.ts";
import { createRecordsNamespace, planCopies } from "./records-namespace.ts";

const { signal } = new AbortController();
const content: DeploymentContent = {
  ...plainContent,
  namespace: "shop",
  releaseName: "web",
  recordsNamespace: "flux",
  helm: { ...plainContent.helm, takeOwnership: true },
};

interface Stored {
  /** The namespace that the Secret is in. */
  readonly at: string;
  /** The namespace of the objects. */
  readonly of?: string;
  readonly revision: number;
  readonly note?: string;
}

function stored({ at, of = "shop", revision, note = "" }: Stored): Secret {
  const status = "deployed";
  const json = { name: "web", namespace: of, version: revision, info: { status }, manifest: note };
  const packed = gzipSync(JSON.stringify(json)).toString("base64");
  return {
    metadata: {
      namespace: at,
      name: recordSecretName({ name: "web", revision }),
      labels: {
        ...{ owner: "helm", name: "web", version: String(revision), status, team: "a" },
        "flotilla.dev/deployment": "forged",
      },
    },
    type: "helm.sh/release.v1",
    data: { release: Buffer.from(packed).toString("base64") },
  };
}

function setUp(found: readonly Stored[], { knows = false, owner = "" } = {}) {
  const rest = createMemoryApiServer();
  for (const each of found) rest.put(secrets, stored(each));
  const all = (): readonly Secret[] => rest.all(secrets);
  const ran: number[] = [];
  const recordsNamespace = createRecordsNamespace({
    records: readRecordsHere,
    inventory: { knows: () => knows },
    releases: {
      history: (namespace, name) =>
        all()
          .flatMap((secret) => recordOf(secret) ?? [])
          .filter((record) => record.namespace === namespace && record.name === name)
          .map(({ owner: _, ...record }) => ({
            ...record,
            ...(owner !== "" && { owner: { id: owner, uid: "1" } }),
          })),
      ran: ({ revision }) => void ran.push(revision),
    },
    log: silentLog(),
  });
  const names = (namespace: string) =>
    all()
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map(({ metadata }) => metadata.name.slice("sh.helm.release.v1.".length))
      .toSorted();
  const assignment = { owner: { id: "web", name: "web", uid: "1" } };
  return {
    rest,
    ran,
    names,
    copy: (desired = content) =>
      recordsNamespace.copy({ assignment, content: desired, client: { rest }, signal }),
    clear: (desired = content) =>
      recordsNamespace.clear({ content: desired, client: { rest }, signal }),
  };
}

const old = [
  { at: "flux", revision: 1 },
  { at: "flux", revision: 2 },
];

describe("records that Flux has stored in another namespace", () => {
  test("are copied to that of the release, the newest first, and stay", async () => {
    const { rest, ran, names, copy } = setUp(old);

    await copy();

    assert.deepEqual(names("shop"), ["web.v1", "web.v2"]);
    assert.deepEqual(names("flux"), ["web.v1", "web.v2"]);
    assert.deepEqual(ran, [2]);
    assert.deepEqual(rest.writes, [
      "create secrets shop/sh.helm.release.v1.web.v2",
      "create secrets shop/sh.helm.release.v1.web.v1",
    ]);
    const copied = rest.peek(secrets, { namespace: "shop", name: "sh.helm.release.v1.web.v2" });
    const { status } = copied?.metadata.labels ?? {};
    assert.deepEqual([status, copied?.type], ["deployed", "helm.sh/release.v1"]);
    assert.equal(copied?.metadata.labels?.["team"], "a");
    assert.equal(copied.metadata.labels["flotilla.dev/deployment"], undefined);
  });

  test("are copied once", async () => {
    const { rest, copy } = setUp(old);

    await copy();
    await copy();

    assert.equal(rest.writes.length, 2);
  });

  test("are copied to the end when that was interrupted", async () => {
    const { rest, ran, names, copy } = setUp(old);
    rest.beforeWrite = (write) => {
      if (write.endsWith("v1")) throw new Error("the connection was lost");
    };
    await assert.rejects(copy());
    rest.beforeWrite = () => undefined;

    await copy();

    assert.deepEqual(names("shop"), ["web.v1", "web.v2"]);
    assert.deepEqual(ran, [2]);
  });

  const kept: readonly (readonly [what: string, found: readonly Stored[], known: object])[] = [
    ["the release has a later record", [...old, { at: "shop", revision: 3 }], {}],
    [
      "the release has another record of the newest revision",
      [...old, { at: "shop", revision: 2, note: "other" }],
      {},
    ],
    ["the agent has installed the release before", old, { knows: true }],
    ["a deployment has the release there", old, { owner: "other" }],
    ["they are of objects in another namespace", [{ at: "flux", of: "flux", revision: 1 }], {}],
  ];
  for (const [what, found, known] of kept)
    test(`are not copied if ${what}`, async () => {
      const { rest, copy } = setUp(found, known);

      await copy();

      assert.deepEqual(rest.writes, []);
    });

  test("are not copied without a namespace that they are in", async () => {
    const { rest, copy } = setUp(old);
    const { recordsNamespace: _, ...other } = content;

    await copy(other);
    await copy({ ...content, recordsNamespace: "shop" });

    assert.deepEqual([rest.reads, rest.writes], [[], []]);
  });

  test("are not copied for a release that may not be taken over", async () => {
    const { rest, copy } = setUp(old);

    await assert.rejects(copy({ ...content, helm: plainContent.helm }), {
      code: "RELEASE_EXISTS",
      message:
        /^release shop\/web exists already, in revision 2 with its records in namespace flux, and this agent did not install it; nothing was changed\./,
    });
    assert.deepEqual(rest.writes, []);
  });

  test("are deleted once the release is deployed, and no others", async () => {
    const { names, clear } = setUp([
      ...old,
      { at: "flux", of: "flux", revision: 3 },
      { at: "shop", revision: 2 },
    ]);

    await clear();

    assert.deepEqual(names("flux"), ["web.v3"]);
    assert.deepEqual(names("shop"), ["web.v2"]);
  });

  test("stay if the account may not delete them", async () => {
    const { rest, names, clear } = setUp(old);
    rest.beforeWrite = () => {
      throw new KubeStatusError("forbidden", { status: 403, reason: "Forbidden" });
    };

    await clear();

    assert.deepEqual(names("flux"), ["web.v1", "web.v2"]);
  });
});

describe("the plan of copies", () => {
  const record = (namespace: string, revision: number): ReleaseRecord => ({
    ...{ namespace, name: "web", revision, status: "deployed", isOwn: false, modifiedAtMs: 0 },
  });
  const olds = [record("flux", 1), record("flux", 3), record("flux", 2)];

  test("has all records of a release that has none", () => {
    assert.deepEqual(planCopies(olds, [], { wasInstalled: false }), {
      missing: [olds[1], olds[2], olds[0]],
    });
  });

  test("continues with what is missing", () => {
    assert.deepEqual(planCopies(olds, [record("shop", 3)], { wasInstalled: false }), {
      continues: olds[1],
      missing: [olds[2], olds[0]],
    });
  });

  test("is empty when all were copied", () => {
    const here = olds.map(({ revision }) => record("shop", revision));

    assert.equal(planCopies(olds, here, { wasInstalled: false }), undefined);
  });
});
