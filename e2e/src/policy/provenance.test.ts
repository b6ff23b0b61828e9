/** Policies that limit the references of Git repositories, and that require verified signatures. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { apiVersion, type Policy, policies } from "@flotilla/shared/api";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { installedConfig } from "../harness/releases.ts";
import { chartFiles, gitChart, startGitFleet } from "../helmrelease/git-fleet.ts";
import { createSigningKey } from "../helmrelease/signing-key.ts";
import { waitForRejection } from "../helmrelease/source-objects.ts";

const releases = await startGitFleet();
const { charts, fleet, hub, local } = releases;
charts.publish(await configChart("indexed", "1.0.0"));

async function createNamespaceWithPolicy(namespace: string, helmOp: Policy["helmOp"]) {
  await releases.createGitNamespace(namespace);
  await hub.create(policies, {
    ...{ apiVersion, kind: "Policy", metadata: { namespace, name: "guard" }, helmOp },
  });
}

async function installedVersion(namespace: string, name: string): Promise<string | undefined> {
  return (await installedConfig(local.client, name, namespace))?.data?.["version"];
}

test("a commit of a reference that no Policy allows is not deployed, and what is installed stays", async () => {
  const namespace = "limited";
  const app = { namespace, name: "app" };
  await createNamespaceWithPolicy(namespace, {
    allowedGitRefs: ["refs/heads/main", "refs/tags/v[0-9.]+"],
  });
  const repository = await releases.repository("app");
  await repository.commit(chartFiles("app", "1.0.0"));
  const fork = await repository.commit(chartFiles("app", "9.0.0"), { branch: "fork" });
  await repository.git("push", "origin", `${fork}:refs/pull/7/head`);
  await releases.createGit(app);
  await releases.create(app, gitChart("app", "app"));
  await releases.ready(app, "1.0.0");

  await releases.patchGit(app, { ref: { branch: null, name: "refs/pull/7/head" } });
  await waitForRejection(
    releases,
    app,
    /^disallowed Git reference refs\/pull\/7\/head of GitRepository https:.*\(Policy guard\)/,
  );
  await releases.patchGit(app, { ref: { name: null, commit: fork } });
  await waitForRejection(releases, app, new RegExp(`^disallowed Git reference ${fork} of `));
  assert.equal(await installedVersion(namespace, "app"), "1.0.0");

  await repository.commit(chartFiles("app", "1.1.0"));
  await releases.patchGit(app, { ref: { commit: null, branch: "main" } });
  await releases.ready(app, "1.1.0");
});

test("where a Policy requires verification, only a commit with a verified signature is deployed", async () => {
  const namespace = "verified";
  const app = { namespace, name: "signed" };
  await createNamespaceWithPolicy(namespace, { requireVerification: true });
  const { gpg, publicKey, signature } = await createSigningKey(join(fleet.dir, "gnupg"));
  await releases.createSecret({ namespace, name: "pgp-keys" }, { "team.asc": publicKey });
  const repository = await releases.repository("signed");
  await repository.git("config", "gpg.program", gpg);
  await repository.commit(chartFiles("app", "1.0.0"), signature);

  await releases.createGit(app);
  await releases.create(app, gitChart("signed", "app"));
  await waitForRejection(
    releases,
    app,
    /^unverified GitRepository https:.* set verify of the GitRepository \(Policy guard\)/,
  );
  const indexed = { namespace, name: "indexed" };
  await releases.create(indexed);
  await waitForRejection(releases, indexed, /^unverified HelmRepository http/);
  assert.equal(await installedVersion(namespace, "signed"), undefined);

  await releases.patchGit(app, { verify: { mode: "HEAD", secretRef: { name: "pgp-keys" } } });
  await releases.ready(app, "1.0.0");
});
