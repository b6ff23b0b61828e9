/** Receivers that name Flux's kinds: a push to a real Git repository, the webhook, and the upgrade. All tests share a fleet. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmReleases,
  helmRepositories,
  ociRepositories,
  type Receiver,
  receivers,
} from "@flotilla/shared/flux";
import type { KubeObject, ObjectRef, Resource } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartFiles, gitChart, startGitFleet } from "../helmrelease/git-fleet.ts";
import { createWebhooks, signatureOf, waitForStatus } from "./webhooks.ts";

const git = await startGitFleet();
const { charts, fleet, hub } = git;
const namespace = "team";
const token = "a token of the sender";
charts.publish(await configChart("app", "1.0.0"));
await git.createGitNamespace(namespace);
await git.createSecret({ namespace, name: "sender" }, { token });

const refOf = (name: string) => ({ namespace, name });

interface Reconciled extends KubeObject {
  readonly status?: { readonly lastHandledReconcileAt?: string | undefined } | undefined;
}

const webhooks = createWebhooks(fleet);

function createReceiver(name: string, spec: Parameters<typeof webhooks.create>[1]) {
  return webhooks.create(refOf(name), spec);
}

/** Resolves with the status of the response. */
async function call(
  path: string,
  payload: unknown,
  { key = token, headers = {} }: { key?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<number> {
  const body = JSON.stringify(payload);
  const signature = signatureOf(body, key);
  return await webhooks.call(path, body, {
    "content-type": "application/json",
    "x-signature": signature,
    "x-hub-signature-256": signature,
    ...headers,
  });
}

async function handledAt(resource: Resource<KubeObject>, ref: ObjectRef) {
  const object: Reconciled | undefined = await hub.reader.get(resource, ref);
  return object?.status?.lastHandledReconcileAt;
}

/** A GitRepository with a chart, which a HelmRelease of the same name deploys. */
async function deployFromGit(name: string) {
  const repository = await git.repository(name);
  await repository.commit(chartFiles("chart", "1.0.0"));
  await git.createGit(refOf(name));
  await git.create(refOf(name), gitChart(name, "./chart"));
  await git.ready(refOf(name), "1.0.0");
  return { push: (version: string) => repository.commit(chartFiles("chart", version)) };
}

test("a push to a Git repository upgrades its HelmRelease when the webhook names the GitRepository, and not with a wrong signature or while it is suspended", async () => {
  const { push } = await deployFromGit("shop");
  const path = await createReceiver("shop", {
    type: "github",
    events: ["push"],
    resources: [{ kind: "GitRepository", name: "shop" }],
  });
  const pushed = { headers: { "x-github-event": "push" } };
  await push("1.1.0");

  assert.equal(await call(path, {}, { ...pushed, key: "another token" }), 400);
  assert.equal(await call(path, {}, { headers: { "x-github-event": "issues" } }), 400);
  await webhooks.suspend(refOf("shop"), true);
  await waitForStatus(503, () => call(path, {}, { ...pushed, key: "another" }));
  assert.equal(await call(path, {}, pushed), 503);
  assert.equal(await handledAt(gitRepositories, refOf("shop")), undefined);

  await webhooks.suspend(refOf("shop"), false);
  await waitForStatus(200, () => call(path, {}, pushed));

  await git.ready(refOf("shop"), "1.1.0");
});

test("of all GitRepositories with a label, a webhook triggers those that the CEL filter selects by the pushed repository", async () => {
  const [front, back] = [await deployFromGit("front"), await deployFromGit("back")];
  for (const name of ["front", "back"])
    await hub.patch(gitRepositories, refOf(name), {
      type: "merge",
      body: { metadata: { labels: { team: "web" } } },
    });
  const path = await createReceiver("filtered", {
    resources: [
      {
        ...{ kind: "GitRepository", name: "*", matchLabels: { team: "web" } },
        filter: "res.metadata.name == req.repository.name",
      },
    ],
    resourceFilter: "req.ref == 'refs/heads/main'",
  });
  for (const { push } of [front, back]) await push("1.1.0");

  const payload = (ref: string) => ({ ref, repository: { name: "front" } });
  assert.equal(await call(path, payload("refs/heads/other")), 200);
  assert.equal(await handledAt(gitRepositories, refOf("front")), undefined);
  assert.equal(await call(path, payload("refs/heads/main")), 200);

  await git.ready(refOf("front"), "1.1.0");
  assert.equal(await handledAt(gitRepositories, refOf("back")), undefined);
});

test("a webhook that names a HelmRepository upgrades its HelmReleases to the new version of the index", async () => {
  await git.create(refOf("app"));
  await git.ready(refOf("app"), "1.0.0");
  charts.publish(await configChart("app", "1.1.0"));
  const path = await createReceiver("index", {
    type: "harbor",
    resources: [{ kind: "HelmRepository", name: "charts" }],
  });

  assert.equal(await call(path, {}, { headers: { authorization: "another token" } }), 400);
  assert.equal(await call(path, {}, { headers: { authorization: token } }), 200);

  await git.ready(refOf("app"), "1.1.0");
});

test("each kind of Flux that a Receiver names is reconciled, and a HelmRelease only with its apiVersion", async () => {
  const unreachable = "127.0.0.1:1";
  await hub.create(ociRepositories, {
    metadata: refOf("listed"),
    spec: {
      ...{ url: `oci://${unreachable}/app`, interval: "1h", timeout: "5s" },
      provider: "generic",
    },
  });
  await hub.create(buckets, {
    metadata: refOf("listed"),
    spec: {
      ...{ endpoint: unreachable, bucketName: "charts", insecure: true },
      ...{ interval: "1h", timeout: "5s", provider: "generic" },
    },
  });
  const source = "source.toolkit.fluxcd.io/v1";
  const named: readonly [Resource<KubeObject>, string, string | undefined][] = [
    [helmRepositories, "charts", source],
    [gitRepositories, "shop", undefined],
    [ociRepositories, "listed", source],
    [buckets, "listed", undefined],
    [helmCharts, `${namespace}-app`, undefined],
    [helmReleases, "app", "helm.toolkit.fluxcd.io/v2"],
  ];
  const before = await Promise.all(
    named.map(([resource, name]) => handledAt(resource, refOf(name))),
  );
  const resources = named.map(([{ kind }, name, apiVersion]) => ({
    ...{ kind, name },
    ...(apiVersion !== undefined && { apiVersion }),
  })) as NonNullable<Receiver["spec"]>["resources"];
  const path = await createReceiver("all", { resources });

  assert.equal(await call(path, {}), 200);

  for (const [index, [resource, name]] of named.entries())
    await waitForObject<Reconciled>(hub, resource, refOf(name), "reconciled", ({ status }) => {
      const handled = status?.lastHandledReconcileAt;
      return handled !== undefined && handled !== before[index];
    });

  await hub.create(receivers, {
    metadata: refOf("without"),
    spec: {
      ...{ type: "generic-hmac", interval: "10m", secretRef: { name: "sender" } },
      resources: [{ kind: "HelmRelease", name: "app" }],
    },
  });
  await waitForObject(hub, receivers, refOf("without"), "stalled", ({ status }) => {
    const stalled = findCondition(status?.conditions, "Stalled");
    return stalled?.message?.includes("apiVersion must be set for kind HelmRelease") === true;
  });
});
