import assert from "node:assert/strict";
import { plainContent } from "@flotilla/shared/content/testing";
import { AppError, defineErrors } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { releaseLabels } from "../helm/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import { createInventory } from "../inventory/index.ts";
import { findLostReleases } from "./lost-releases.ts";

const owner = { name: "web", uid: "u" };
const assignment = { owner, deploymentId: "sha256:1" };
const content = {
  ...plainContent,
  ...{ namespace: "team", releaseName: "web", serviceAccount: "team/deployer" },
  keepResources: true,
};

function record(namespace: string, name: string, { uid } = owner): Secret {
  return {
    metadata: {
      namespace,
      name: `sh.helm.release.v1.${name}.v1`,
      labels: {
        ...{ owner: "helm", name, version: "1", status: "deployed" },
        [releaseLabels.deployment]: owner.name,
        [releaseLabels.uid]: uid,
        [releaseLabels.revision]: "1",
      },
    },
  };
}

function clientOf(rest: KubeRest, isPerNamespace = true): ImpersonatedClient {
  const subject = "service account team/deployer";
  const watch = { subject, rest, isPerNamespace };
  return { subject, isAgent: false, rest, helmArgs: [], watch };
}

function setUp(...records: readonly Secret[]) {
  const rest = createMemoryApiServer();
  for (const each of records) rest.put(secrets, each);
  const log = silentLog();
  const inventory = createInventory({ rest: createMemoryApiServer(), log });
  return { rest, inventory, deps: { inventory, log } };
}

describe("what was installed for a deployment of an agent that has lost its Secrets", () => {
  test("is found in the namespace of its release, with its options, and is no record of the agent", async () => {
    const { rest, inventory, deps } = setUp(record("team", "web"), record("elsewhere", "web"));

    await findLostReleases(deps, assignment, content, clientOf(rest));

    assert.deepEqual(inventory.releasesOf("web"), [
      {
        ...{ namespace: "team", name: "web", uid: "u", deploymentId: "sha256:1", revisions: [] },
        ...{ serviceAccount: "team/deployer", keepResources: true, deleteCRDResources: false },
      },
    ]);
  });

  test("is found in all namespaces if the agent itself reads", async () => {
    const { rest, inventory, deps } = setUp(record("team", "web"), record("elsewhere", "old"));

    await findLostReleases(deps, assignment, content, clientOf(rest, false));

    assert.deepEqual(
      inventory.releasesOf("web").map(({ namespace, name }) => `${namespace}/${name}`),
      ["team/web", "elsewhere/old"],
    );
  });

  test("is nothing that has another UID, or that the inventory has for another deployment", async () => {
    const { rest, inventory, deps } = setUp(
      record("team", "again", { ...owner, uid: "other" }),
      record("team", "victim"),
    );
    const place = { namespace: "team", name: "victim" };
    const [release] = [{ ...place, uid: "v", deploymentId: "", keepResources: false }];
    const victim = { ...release, deleteCRDResources: false };
    await inventory.installed("victim", victim, { added: [], kept: [] });

    await findLostReleases(deps, assignment, content, clientOf(rest));

    assert.deepEqual(inventory.releasesOf("web"), []);
    assert.deepEqual(inventory.ownerOf(place), { name: "victim", uid: "v" });
  });

  test("includes the copies that its content names, which have its label", async () => {
    const { rest, inventory, deps } = setUp();
    for (const [name, label] of [
      ["copied", "web"],
      ["unnamed", "web"],
      ["own", "other"],
    ] as const)
      rest.put(configMaps, {
        metadata: {
          ...{ namespace: "team", name },
          labels: { "fleet.cattle.io/bundledeployment": label },
        },
      });
    const copies = ["copied", "own"].map((name) => ({ kind: "ConfigMap" as const, name }));

    await findLostReleases(deps, assignment, { ...content, copies }, clientOf(rest));

    assert.deepEqual(
      inventory.objectsOf("web").map(({ name }) => name),
      ["copied"],
    );
  });

  test("is not known while the account may not list, which is said with the right", async () => {
    const { rest, inventory, deps } = setUp(record("team", "web"));
    const denied = defineErrors({ DENIED: { retryable: true, help: "" } }).DENIED;
    const list = () => Promise.reject(new AppError(denied, "may not list secrets"));

    await assert.rejects(findLostReleases(deps, assignment, content, clientOf({ ...rest, list })), {
      code: "RELEASE_UNREADABLE",
      message:
        "look for the release of a withdrawn deployment in namespace team as service account team/deployer, because the agent has lost its Secrets: may not list secrets; the withdrawal is not confirmed",
    });
    assert.deepEqual(inventory.releasesOf("web"), []);
  });
});
