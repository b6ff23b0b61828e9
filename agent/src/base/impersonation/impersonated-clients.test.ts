import assert from "node:assert/strict";
import {
  type Impersonation,
  type KubeConnection,
  KubeStatusError,
} from "@flotilla/shared/kube/client";
import { serviceAccounts } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import { createImpersonatedClients, type ImpersonatedClients } from "./impersonated-clients.ts";

const namespace = "flotilla-agent";
const ownUser = "system:serviceaccount:flotilla-agent:own";

interface Fixture {
  readonly rest: MemoryApiServer;
  readonly clients: ImpersonatedClients;
  /** All impersonations, in order. */
  readonly impersonated: readonly Impersonation[];
  /** Resolves with the next account that is created or deleted. */
  changed(): Promise<void>;
}

async function setUp(t: TestContext, ...accounts: readonly string[]): Promise<Fixture> {
  const rest = createMemoryApiServer();
  for (const name of accounts) rest.put(serviceAccounts, { metadata: { namespace, name } });
  return await start(t, rest);
}

/** `namespaces`: impersonation is required. */
async function start(
  t: TestContext,
  rest: MemoryApiServer,
  namespaces?: readonly string[],
): Promise<Fixture> {
  const impersonated: Impersonation[] = [];
  const connection: KubeConnection = {
    ...rest,
    // The API server's answer to a SelfSubjectReview, which it does not store.
    create: (resource, object, options) =>
      resource.kind === "SelfSubjectReview"
        ? Promise.resolve({ ...object, status: { userInfo: { username: ownUser } } })
        : rest.create(resource, object, options),
    as(impersonation: Impersonation) {
      impersonated.push(impersonation);
      return createMemoryApiServer();
    },
  };
  const clients = createImpersonatedClients({ connection, namespaces, log: silentLog() });
  const ending = new AbortController();
  const running = clients.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  await clients.synced;
  const waiters: (() => void)[] = [];
  clients.onChange(() => {
    for (const resolve of waiters.splice(0)) resolve();
  });
  return {
    rest,
    clients,
    impersonated,
    changed: () => new Promise((resolve) => waiters.push(resolve)),
  };
}

describe("the impersonated client of a deployment", () => {
  test("impersonates the service account that it names, and no group", async (t) => {
    const { clients, impersonated } = await setUp(t, "deployer", "fleet-default");

    const client = await clients.clientFor("deployer");

    assert.equal(client.subject, "service account flotilla-agent/deployer");
    assert.equal(client.isAgent, false);
    assert.deepEqual(client.helmArgs, [
      "--kube-as-user=system:serviceaccount:flotilla-agent:deployer",
    ]);
    assert.deepEqual(impersonated, [
      { user: "system:serviceaccount:flotilla-agent:deployer", groups: [] },
    ]);
  });

  test("is never one with the agent's own service account", async (t) => {
    const { clients, impersonated } = await setUp(t, "own", "deployer");

    await assert.rejects(clients.clientFor("own"), {
      code: "SERVICE_ACCOUNT_DENIED",
      message:
        "service account flotilla-agent/own is the agent's own, which no deployment may impersonate; set serviceAccount to another one",
    });
    await clients.clientFor("deployer");

    assert.deepEqual(
      impersonated.map(({ user }) => user),
      ["system:serviceaccount:flotilla-agent:deployer"],
    );
  });

  test("is created once", async (t) => {
    const { clients, impersonated } = await setUp(t, "deployer");

    assert.equal(await clients.clientFor("deployer"), await clients.clientFor("deployer"));
    assert.equal(impersonated.length, 1);
  });

  test("impersonates fleet-default if the deployment has no service account and fleet-default exists", async (t) => {
    const { clients } = await setUp(t, "fleet-default");

    assert.equal(
      (await clients.clientFor(undefined)).subject,
      "service account flotilla-agent/fleet-default",
    );
  });

  test("is the agent's own client if fleet-default does not exist", async (t) => {
    const { clients, impersonated } = await setUp(t, "deployer");

    const client = await clients.clientFor(undefined);

    assert.equal(client.isAgent, true);
    assert.deepEqual(client.helmArgs, []);
    assert.deepEqual(impersonated, []);
  });

  for (const name of ["absent", "other:deployer", "../deployer"]) {
    test(`is not created for the missing service account ${name}, and the error names it`, async (t) => {
      const { clients } = await setUp(t, "deployer");

      await assert.rejects(clients.clientFor(name), {
        code: "SERVICE_ACCOUNT_MISSING",
        message: new RegExp(`^service account flotilla-agent/${name} not found`),
      });
    });
  }

  test("impersonates an account that the hub chose in any namespace, once it exists", async (t) => {
    const { rest, clients, impersonated, changed } = await setUp(t, "fleet-default");
    const user = "system:serviceaccount:apps:deployer";

    await assert.rejects(clients.clientFor(user), {
      code: "SERVICE_ACCOUNT_MISSING",
      message: /^service account apps\/deployer not found/,
    });
    assert.equal(await clients.isGone(user), true);
    const created = changed();
    rest.put(serviceAccounts, { metadata: { namespace: "apps", name: "deployer" } });
    await created;
    assert.equal(await clients.isGone(user), false);
    assert.equal(await clients.isGone("absent"), false, "one that the hub did not choose");
    const client = await clients.clientFor(user);

    assert.equal(client.subject, "service account apps/deployer");
    assert.deepEqual(impersonated, [{ user, groups: [] }]);
  });

  test("changes when an account is created or deleted", async (t) => {
    const { rest, clients, changed } = await setUp(t);
    const ref = { namespace, name: "deployer" };

    const created = changed();
    rest.put(serviceAccounts, { metadata: ref });
    await created;
    assert.equal((await clients.clientFor("deployer")).isAgent, false);

    const deleted = changed();
    await rest.delete(serviceAccounts, ref);
    await deleted;
    await assert.rejects(clients.clientFor("deployer"), { code: "SERVICE_ACCOUNT_MISSING" });
  });

  test("does not change when an account is updated", async (t) => {
    const { rest, clients, changed } = await setUp(t, "deployer");
    let changes = 0;
    clients.onChange(() => {
      changes += 1;
    });
    rest.put(serviceAccounts, { metadata: { namespace, name: "deployer", labels: { a: "b" } } });

    rest.put(serviceAccounts, { metadata: { namespace, name: "later" } });
    while (changes === 0) await changed();

    assert.equal((await clients.clientFor("later")).isAgent, false);
    assert.equal(changes, 1);
  });
});

describe("where impersonation is required, the client of a deployment", () => {
  const deployer = { namespace: "team-a", name: "deployer" };

  function withDeployer(): MemoryApiServer {
    const rest = createMemoryApiServer();
    rest.put(serviceAccounts, { metadata: deployer });
    rest.put(serviceAccounts, { metadata: { namespace, name: "fleet-default" } });
    return rest;
  }

  test("also watches as the account, in single namespaces", async (t) => {
    const rest = withDeployer();
    const { clients, impersonated } = await start(t, rest, ["team-a", "team-b"]);

    const client = await clients.clientFor("team-a/deployer");

    assert.equal(client.subject, "service account team-a/deployer");
    assert.deepEqual(client.watch, {
      subject: "service account team-a/deployer",
      rest: client.rest,
      isPerNamespace: true,
    });
    assert.deepEqual(client.helmArgs, ["--kube-as-user=system:serviceaccount:team-a:deployer"]);
    assert.deepEqual(impersonated, [{ user: "system:serviceaccount:team-a:deployer", groups: [] }]);
    assert.deepEqual(rest.reads, ["list serviceaccounts team-a", "list serviceaccounts team-b"]);
  });

  test("is never that of the default account or of the agent", async (t) => {
    const { clients, impersonated } = await start(t, withDeployer(), ["team-a"]);

    await assert.rejects(clients.clientFor(undefined), { code: "SERVICE_ACCOUNT_REQUIRED" });
    await assert.rejects(clients.clientFor("fleet-default"), { code: "SERVICE_ACCOUNT_REQUIRED" });
    await assert.rejects(clients.clientFor(`${namespace}/fleet-default`), {
      code: "SERVICE_ACCOUNT_DENIED",
    });
    assert.deepEqual(impersonated, []);
  });

  test("is there although the accounts of another namespace cannot be listed", async (t) => {
    const rest = withDeployer();
    const { list } = rest;
    rest.list = (resource, options) =>
      options?.namespace === "gone"
        ? Promise.reject(new KubeStatusError("may not list", { status: 403, reason: "" }))
        : list(resource, options);
    const { clients } = await start(t, rest, ["team-a", "gone"]);

    assert.equal((await clients.clientFor("team-a/deployer")).isAgent, false);
    await assert.rejects(clients.clientFor("gone/deployer"), {
      code: "SERVICE_ACCOUNT_MISSING",
      message:
        "find service account gone/deployer, which the deployment impersonates: may not list",
    });
  });
});

test("where impersonation is not required, watches have the agent's own rights", async (t) => {
  const { clients } = await setUp(t, "deployer");

  const { watch } = await clients.clientFor("deployer");

  assert.deepEqual([watch.subject, watch.isPerNamespace], ["the agent", false]);
  assert.equal(watch, (await clients.clientFor(undefined)).watch);
});
