import assert from "node:assert/strict";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { settle } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { watchRecordsAsAccounts } from "./record-watches.ts";
import { recordSecretName } from "./release-record.ts";

const web = { namespace: "apps", name: "web" };

function record(revision: number): Secret {
  const labels = { owner: "helm", name: "web", version: String(revision), status: "deployed" };
  return {
    metadata: { namespace: "apps", name: recordSecretName({ name: "web", revision }), labels },
  };
}

function setUp(t: TestContext) {
  const server = createMemoryApiServer();
  server.put(secrets, record(1));
  const owners = new Map<string, string>();
  const changes: string[] = [];
  const readable: string[] = [];
  const watches = watchRecordsAsAccounts({
    inventory: {
      ownerOf({ namespace, name }) {
        const owner = owners.get(`${namespace}/${name}`);
        return owner === undefined ? undefined : { id: owner, uid: "u" };
      },
    },
    log: silentLog(),
    onChange: ({ after }) => void changes.push(after?.metadata.name ?? "deleted"),
    onReadable: (deployments) => void readable.push(...deployments),
  });
  const ending = new AbortController();
  const running = watches.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  const open = new Map<string, number>();
  /** A client of an account; `open` counts its watches. */
  function account(subject: string) {
    const rest: KubeRest = {
      ...server,
      async *watch(resource, options) {
        open.set(subject, (open.get(subject) ?? 0) + 1);
        try {
          yield* server.watch(resource, options);
        } finally {
          open.set(subject, (open.get(subject) ?? 0) - 1);
        }
      },
    };
    return { subject, rest, isPerNamespace: true };
  }
  const observe = (
    id: string,
    client: ReturnType<typeof account>,
    ...namespaces: readonly string[]
  ) => watches.observe(id, { client, namespaces, signal: ending.signal });
  const revisions = () => watches.secretsOf(web).map(({ metadata }) => metadata.name);
  return { server, watches, owners, changes, readable, account, observe, open, revisions };
}

const denied = new KubeStatusError("account a may not list secrets", {
  status: 403,
  reason: "Forbidden",
});

describe("Helm's records, as the accounts of deployments", () => {
  test("are known once a deployment observes their namespace", async (t) => {
    const { server, account, observe, revisions } = setUp(t);
    assert.deepEqual(revisions(), []);

    await observe("web", account("a"), "apps");

    assert.deepEqual(revisions(), ["sh.helm.release.v1.web.v1"]);
    assert.deepEqual(server.reads, ["list secrets apps"]);
  });

  test("are watched once for all deployments of an account in a namespace", async (t) => {
    const { server, account, observe, open } = setUp(t);
    const a = account("a");

    await observe("web", a, "apps");
    await observe("shop", a, "apps", "shop");
    await observe("web", a, "apps");
    await settle();

    assert.deepEqual(server.reads, ["list secrets apps", "list secrets shop"]);
    assert.deepEqual([...open], [["a", 2]]);
  });

  test("are not watched any more when the last deployment of the account is gone", async (t) => {
    const { watches, account, observe, open, revisions } = setUp(t);
    await observe("web", account("a"), "apps");
    await observe("shop", account("a"), "apps");
    await settle();

    watches.forget("web");
    await settle();
    assert.deepEqual([...open], [["a", 1]]);

    watches.forget("shop");
    await settle();
    assert.deepEqual([...open], [["a", 0]]);
    assert.deepEqual(revisions(), []);
  });

  test("are watched as the new account when a deployment gets another one", async (t) => {
    const { account, observe, open } = setUp(t);
    await observe("web", account("a"), "apps");
    await settle();

    await observe("web", account("b"), "apps");
    await settle();

    assert.deepEqual(
      [...open],
      [
        ["a", 0],
        ["b", 1],
      ],
    );
  });

  test("cause one notification for each change, however many accounts see it", async (t) => {
    const { server, account, observe, changes } = setUp(t);
    await observe("web", account("a"), "apps");
    await observe("shop", account("b"), "apps");
    changes.length = 0;

    server.put(secrets, record(2));
    await settle();

    assert.deepEqual(changes, ["sh.helm.release.v1.web.v2"]);
  });

  test("are read as the account of the deployment that owns the release", async (t) => {
    const { watches, owners, account, observe } = setUp(t);
    const [a, b] = [account("a"), account("b")];
    await observe("shop", a, "apps");
    await observe("web", b, "apps");

    assert.equal(watches.reader(web), a.rest);
    owners.set("apps/web", "web");
    assert.equal(watches.reader(web), b.rest);
  });

  test("cannot be read of a namespace that no deployment observes", (t) => {
    const { watches } = setUp(t);

    assert.throws(() => watches.reader(web), { code: "RELEASE_UNREADABLE" });
  });

  test("that an account may not list are an error for its deployments alone", async (t) => {
    const { server, account, observe, revisions } = setUp(t);
    const a = account("service account team-a/a");
    const forbidden = { ...a, rest: { ...a.rest, list: () => Promise.reject(denied) } };
    await observe("shop", account("b"), "apps");

    await assert.rejects(observe("web", forbidden, "apps"), {
      code: "RELEASE_UNREADABLE",
      message:
        "watch Helm's records in namespace apps as service account team-a/a: account a may not list secrets; nothing was changed",
    });

    assert.equal(revisions().length, 1);
    assert.equal(server.reads.length, 1);
  });
});
