import assert from "node:assert/strict";
import type { Impersonation } from "@flotilla/shared/kube/client/kubeconfig.ts";
import { serviceAccounts } from "@flotilla/shared/kube/objects/core-resources.ts";
import {
  createMemoryApiServer,
  type MemoryApiServer,
} from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { describe, type TestContext, test } from "vitest";
import { type Actors, createActors } from "./actors.ts";

const namespace = "flotilla-agent";

interface World {
  readonly rest: MemoryApiServer;
  readonly actors: Actors;
  /** Everybody that was acted as, in order. */
  readonly impersonated: readonly Impersonation[];
  /** Resolves with the next account that comes or goes. */
  changed(): Promise<void>;
}

async function setUp(t: TestContext, ...accounts: readonly string[]): Promise<World> {
  const rest = createMemoryApiServer();
  for (const name of accounts) rest.put(serviceAccounts, { metadata: { namespace, name } });
  const impersonated: Impersonation[] = [];
  const connection = {
    ...rest,
    as(who: Impersonation) {
      impersonated.push(who);
      return createMemoryApiServer();
    },
  };
  const actors = createActors({ connection, namespace, log: silentLog() });
  const ending = new AbortController();
  const running = actors.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  await actors.synced;
  const waiters: (() => void)[] = [];
  actors.onChange(() => {
    for (const told of waiters.splice(0)) told();
  });
  return {
    rest,
    actors,
    impersonated,
    changed: () => new Promise((resolve) => waiters.push(resolve)),
  };
}

describe("who acts for a deployment", () => {
  test("is the account that it names, with the groups of an account", async (t) => {
    const { actors, impersonated } = await setUp(t, "deployer", "fleet-default");

    const actor = await actors.of("deployer");

    assert.equal(actor.title, "service account flotilla-agent/deployer");
    assert.equal(actor.isAgent, false);
    assert.deepEqual(actor.helmArgs, [
      "--kube-as-user=system:serviceaccount:flotilla-agent:deployer",
      "--kube-as-group=system:serviceaccounts",
      "--kube-as-group=system:serviceaccounts:flotilla-agent",
      "--kube-as-group=system:authenticated",
    ]);
    assert.deepEqual(impersonated, [
      {
        user: "system:serviceaccount:flotilla-agent:deployer",
        groups: [
          "system:serviceaccounts",
          "system:serviceaccounts:flotilla-agent",
          "system:authenticated",
        ],
      },
    ]);
  });

  test("is the same one however often it is asked", async (t) => {
    const { actors, impersonated } = await setUp(t, "deployer");

    assert.equal(await actors.of("deployer"), await actors.of("deployer"));
    assert.equal(impersonated.length, 1);
  });

  test("is fleet-default for one that names nobody, where that account exists", async (t) => {
    const { actors } = await setUp(t, "fleet-default");

    assert.equal(
      (await actors.of(undefined)).title,
      "service account flotilla-agent/fleet-default",
    );
  });

  test("is the agent itself where it does not", async (t) => {
    const { actors, impersonated } = await setUp(t, "deployer");

    const actor = await actors.of(undefined);

    assert.equal(actor.isAgent, true);
    assert.deepEqual(actor.helmArgs, []);
    assert.deepEqual(impersonated, []);
  });

  for (const name of ["absent", "other:deployer", "../deployer"]) {
    test(`is nobody for ${name}, which is said by name`, async (t) => {
      const { actors } = await setUp(t, "deployer");

      await assert.rejects(actors.of(name), {
        code: "SERVICE_ACCOUNT_MISSING",
        message: new RegExp(`^look up service account flotilla-agent/${name}: there is none`),
      });
    });
  }

  test("changes when an account comes, and when it goes", async (t) => {
    const { rest, actors, changed } = await setUp(t);
    const ref = { namespace, name: "deployer" };

    const made = changed();
    rest.put(serviceAccounts, { metadata: ref });
    await made;
    assert.equal((await actors.of("deployer")).isAgent, false);

    const gone = changed();
    await rest.delete(serviceAccounts, ref);
    await gone;
    await assert.rejects(actors.of("deployer"), { code: "SERVICE_ACCOUNT_MISSING" });
  });

  test("is no news when an account is only changed", async (t) => {
    const { rest, actors, changed } = await setUp(t, "deployer");
    let told = 0;
    actors.onChange(() => {
      told += 1;
    });
    rest.put(serviceAccounts, { metadata: { namespace, name: "deployer", labels: { a: "b" } } });

    rest.put(serviceAccounts, { metadata: { namespace, name: "later" } });
    while (told === 0) await changed();

    assert.equal((await actors.of("later")).isAgent, false);
    assert.equal(told, 1);
  });
});
