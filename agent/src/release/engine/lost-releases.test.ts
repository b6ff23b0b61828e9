import assert from "node:assert/strict";
import { plainContent } from "@flotilla/shared/content/testing";
import { AppError } from "@flotilla/shared/errors";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import { configMaps, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import type { ImpersonatedClient } from "../../base/impersonation/impersonated-clients.ts";
import { releaseLabels } from "../../helm/cli/release-record.ts";
import { createInventory } from "../../state/inventory/create-inventory.ts";
import { findLostReleases } from "./lost-releases.ts";

const owner = { id: "web", name: "web", uid: "u" };
const assignedAgain = { owner, deploymentId: "sha256:1" };
const assignment = { ...assignedAgain, lost: true as const };
const run = {
  ...{ namespace: "team", release: "web", revision: 1, rollsBack: false },
  ...{ digest: "d", chartDigest: "sha256:c" },
};
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

interface Options {
  readonly client?: (rest: KubeRest) => ImpersonatedClient | AppError;
}

function setUp(records: readonly Secret[], { client = clientOf }: Options = {}) {
  const rest = createMemoryApiServer();
  for (const each of records) rest.put(secrets, each);
  const log = silentLog();
  const { inventory, attempts } = createInventory({ rest: createMemoryApiServer(), log });
  const clientFor = () => {
    const found = client(rest);
    return found instanceof AppError ? Promise.reject(found) : Promise.resolve(found);
  };
  const deps = { clients: { clientFor }, inventory, log };
  return { rest, inventory, attempts, deps };
}

describe("what was installed for a deployment of an agent that has lost its Secrets", () => {
  test("is found in the namespace of its release, with its options, and is not a record of the agent", async () => {
    const { inventory, deps } = setUp([record("team", "web"), record("elsewhere", "web")]);

    await findLostReleases(deps, assignment, content);

    assert.deepEqual(inventory.releasesOf("web"), [
      {
        ...{ namespace: "team", name: "web", uid: "u", deploymentId: "sha256:1", revisions: [] },
        ...{ serviceAccount: "team/deployer", keepResources: true, deleteCRDResources: false },
      },
    ]);
  });

  test("is found in all namespaces if the agent itself reads", async () => {
    const records = [record("team", "web"), record("elsewhere", "old")];
    const { inventory, deps } = setUp(records, { client: (rest) => clientOf(rest, false) });

    await findLostReleases(deps, assignment, content);

    assert.deepEqual(
      inventory.releasesOf("web").map(({ namespace, name }) => `${namespace}/${name}`),
      ["team/web", "elsewhere/old"],
    );
  });

  test("is nothing that has another UID, or that the inventory has for another deployment", async () => {
    const { inventory, deps } = setUp([
      record("team", "again", { ...owner, uid: "other" }),
      record("team", "victim"),
    ]);
    const place = { namespace: "team", name: "victim" };
    const [release] = [{ ...place, uid: "v", deploymentId: "", keepResources: false }];
    const victim = { ...release, deleteCRDResources: false };
    await inventory.installed("victim", victim, { added: [], kept: [] });

    await findLostReleases(deps, assignment, content);

    assert.deepEqual(inventory.releasesOf("web"), []);
    assert.deepEqual(inventory.ownerOf(place), { id: "victim", uid: "v" });
  });

  test("includes the copies that its content names, which have its label", async () => {
    const { rest, inventory, deps } = setUp([]);
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

    await findLostReleases(deps, assignment, { ...content, copies });

    assert.deepEqual(
      inventory.objectsOf("web").map(({ name }) => name),
      ["copied"],
    );
  });

  test("includes no copies where no account limits what is deleted", async () => {
    const client = (rest: KubeRest) => ({ ...clientOf(rest, false), isAgent: true });
    const { rest, inventory, deps } = setUp([], { client });
    const labels = { "fleet.cattle.io/bundledeployment": "web" };
    rest.put(configMaps, { metadata: { namespace: "team", name: "copied", labels } });
    const copies = [{ kind: "ConfigMap" as const, name: "copied" }];

    await findLostReleases(deps, assignment, { ...content, copies });

    assert.deepEqual(inventory.objectsOf("web"), []);
  });

  test("is looked for once, and not once the agent has begun to install it", async () => {
    const { rest, deps } = setUp([record("team", "web")]);
    await findLostReleases(deps, assignedAgain, content);
    await findLostReleases(deps, assignedAgain, content);
    assert.equal(rest.reads.length, 1);

    const begun = setUp([record("team", "web")]);
    await begun.attempts.beginRun(owner, run);
    await begun.attempts.endRun("web");
    await findLostReleases(begun.deps, assignedAgain, content);
    assert.deepEqual(begun.rest.reads, []);
  });
});

describe("an account that may not look for the release", () => {
  const denied = new KubeStatusError("may not list secrets", { status: 403, reason: "Forbidden" });
  const missing = new AppError(agentErrors.SERVICE_ACCOUNT_MISSING, "no account");
  const unavailable = new KubeStatusError("busy", { status: 503, reason: "Unavailable" });
  const listing = (error: Error) => (rest: KubeRest) =>
    clientOf({ ...rest, list: () => Promise.reject(error) });

  test("keeps a withdrawal from being confirmed, and the error names the right", async () => {
    const { inventory, deps } = setUp([], { client: listing(denied) });

    await assert.rejects(findLostReleases(deps, assignment, content), {
      code: "RELEASE_UNREADABLE",
      message:
        "look for the release of a withdrawn deployment in namespace team as service account team/deployer, because the agent has lost its Secrets: may not list secrets; the withdrawal is not confirmed",
    });
    assert.deepEqual(inventory.releasesOf("web"), []);
  });

  test("keeps it also where the account does not exist", async () => {
    const { deps } = setUp([], { client: () => missing });

    await assert.rejects(findLostReleases(deps, assignment, content), {
      code: "SERVICE_ACCOUNT_MISSING",
    });
  });

  test("does not keep a deployment that was assigned again, which it may never have installed", async () => {
    for (const client of [listing(denied), () => missing])
      await findLostReleases(setUp([], { client }).deps, assignedAgain, content);
  });

  test("is not assumed while the API server does not answer", async () => {
    const { deps } = setUp([], { client: listing(unavailable) });

    await assert.rejects(findLostReleases(deps, assignedAgain, content), {
      code: "RELEASE_UNREADABLE",
    });
  });
});
