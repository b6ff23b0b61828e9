/** A withdrawal of a release that another Helm client, or an ended agent, has locked. */

import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { ImpersonatedClient } from "../../base/impersonation/impersonated-clients.ts";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import { createInventory } from "../../state/inventory/create-inventory.ts";
import { testRelease } from "../../testing/index.ts";
import { inventoryRelease } from "../action/claims.ts";
import { createLockTimes } from "../action/lock-times.ts";
import { DecisionLog } from "./decision-log.ts";
import { createLoggedDecisions } from "./testing/index.ts";
import { type WithdrawDeps, withdraw } from "./withdraw.ts";

const { signal } = new AbortController();
const helm = { ...plainContent.helm, timeoutSeconds: 60 };

interface Given {
  readonly keepResources?: boolean;
  readonly isLabelled?: boolean;
  /** The agent has lost the content. */
  readonly isLost?: boolean;
  readonly keepsRelease?: true;
  readonly actions?: DeploymentContent["actions"];
  readonly accountIsGone?: boolean;
  readonly valuesFrom?: DeploymentContent["valuesFrom"];
}

async function setUp(given: Given = {}) {
  const {
    keepResources = false,
    isLabelled = false,
    isLost = false,
    keepsRelease,
    actions,
    accountIsGone = false,
    valuesFrom,
  } = given;
  const serviceAccount = "system:serviceaccount:apps:deployer";
  const content = { ...plainContent, keepResources, helm, actions, serviceAccount, valuesFrom };
  const assigned = await testRelease("web", content);
  const assignment = {
    ...{ ...assigned, withdrawing: true },
    ...(isLost && { content: new Uint8Array() }),
    ...(keepsRelease && { keepsRelease }),
  };
  const { owner } = assignment;
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const { log, lines } = createLoggedDecisions();
  const { inventory, attempts } = createInventory({ rest, log });
  const release = inventoryRelease(assignment, content);
  await inventory.installed("web", release, { added: [], kept: [] });
  const record: ReleaseRecord = {
    ...{
      namespace: release.namespace,
      name: release.name,
      revision: 2,
      status: "pending-upgrade",
      isOwn: false,
      modifiedAtMs: 0,
    },
    ...{ owner, version: "1", ...(isLabelled && { labelled: owner }) },
  };
  const client: ImpersonatedClient = {
    ...{ subject: "the agent itself", isAgent: true, rest, helmArgs: [] },
    watch: { subject: "the agent", rest, isPerNamespace: false },
  };
  const done: string[] = [];
  const uninstalls: Parameters<WithdrawDeps["uninstallRelease"]>[1][] = [];
  const note = (what: string) => () => Promise.resolve(void done.push(what));
  const deps: WithdrawDeps = {
    attempts,
    clients: {
      isRequired: false,
      clientFor: () => Promise.resolve(client),
      isGone: (account) => Promise.resolve(accountIsGone && account === serviceAccount),
    },
    releases: {
      ...{ observe: () => Promise.resolve(), unfollow: () => undefined },
      ...{ ownedBy: () => [record], latest: () => record, history: () => [record] },
    },
    stored: {
      read: () => Promise.reject(new Error("must not be read")),
      unlock: note("unlock"),
      deleteHistory: note("delete history"),
    },
    downstream: { has: () => false, remove: () => Promise.resolve(), forget: () => undefined },
    inputs: {
      forget: () => undefined,
      layers: () =>
        Promise.resolve({ layers: [], redact: (text) => text.replace("hunter2", "***") }),
    },
    lockTimes: createLockTimes(clock),
    decisions: new DecisionLog(log),
    uninstallRelease: (_, options) => {
      done.push("uninstall");
      uninstalls.push(options);
      return Promise.resolve({ skipped: [] });
    },
    ...{ inventory, log },
  };
  return {
    ...{ clock, done, lines, uninstalls, inventory },
    withdraw: () => withdraw(deps, assignment, signal),
  };
}

test("a release whose assignment was lost is uninstalled with the options in the inventory", async () => {
  const { uninstalls, withdraw } = await setUp({
    ...{ isLabelled: true, isLost: true },
    actions: { uninstall: { keepHistory: true, disableHooks: true } },
  });

  await withdraw();

  assert.deepEqual(
    uninstalls.map(({ flags }) => flags),
    [{ keepsHistory: true, withoutHooks: true }],
  );
});

test.each([false, true])(
  "nothing is uninstalled without the account of a HelmRelease, with a lost assignment: %s",
  async (isLost) => {
    const { done, lines, inventory, withdraw } = await setUp({
      ...{ isLabelled: true, accountIsGone: true, isLost },
    });

    await withdraw();

    assert.deepEqual(done, []);
    assert.deepEqual(lines, ["info withdrawn (ServiceAccountGone): leave"]);
    assert.equal(inventory.releasesOf("web").length, 1);
  },
);

test("what a suspended deployment has installed stays, and stays known", async () => {
  const { done, lines, inventory, withdraw } = await setUp({
    ...{ isLabelled: true, keepsRelease: true },
  });

  await withdraw();

  assert.deepEqual(done, []);
  assert.deepEqual(lines, ["info withdrawn (Suspended): leave"]);
  assert.equal(inventory.releasesOf("web").length, 1);
  assert.equal(
    inventory.knows({ id: "web", uid: inventory.releasesOf("web")[0]?.uid ?? "" }),
    false,
  );
});

describe("a locked release that is withdrawn", () => {
  test("is left alone while its timeout has not passed without a change, then unlocked and uninstalled", async () => {
    const { clock, done, lines, withdraw } = await setUp();

    await assert.rejects(withdraw(), { code: "RELEASE_LOCKED" });
    await clock.advance(59_999);
    await assert.rejects(withdraw(), { code: "RELEASE_LOCKED" });
    assert.deepEqual(done, []);
    await clock.advance(1);
    await withdraw();

    assert.deepEqual(done, ["unlock", "uninstall"]);
    assert.deepEqual(lines, [
      "info locked (LockedByOthers): locked",
      "debug locked (LockedByOthers): locked",
      "info locked (LockedByOthers): unlock",
      "info withdrawn (Removed): uninstall",
    ]);
  });

  test("is unlocked at once if an ended agent has locked it", async () => {
    const { done, lines, withdraw } = await setUp({ isLabelled: true });

    await withdraw();

    assert.deepEqual(done, ["unlock", "uninstall"]);
    assert.deepEqual(lines, [
      "info locked (Interrupted): unlock",
      "info withdrawn (Removed): uninstall",
    ]);
  });

  test("loses its history alone if its objects are kept", async () => {
    const { done, lines, withdraw } = await setUp({ isLabelled: true, keepResources: true });

    await withdraw();

    assert.deepEqual(done, ["unlock", "delete history"]);
    assert.equal(lines.at(-1), "info withdrawn (Removed, KeepResources): deleteHistory");
  });
});

for (const [what, valuesFrom, shown] of [
  ["of Secrets", [{ kind: "Secret", name: "db", key: "values.yaml" }], 'invalid: "***"'],
  ["of no Secret", [{ kind: "ConfigMap", name: "db", key: "values.yaml" }], 'invalid: "hunter2"'],
] as const)
  test(`an error of helm uninstall has no values of Secrets: values ${what}`, async () => {
    const { uninstalls, withdraw } = await setUp({ isLabelled: true, valuesFrom: [...valuesFrom] });

    await withdraw();

    assert.equal(await uninstalls[0]?.redact?.('invalid: "hunter2"'), shown);
  });
