/** What users of one namespace see: that namespace, and a clear answer for every other. */
import assert from "node:assert/strict";
import { bundles, clusters, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import type { Fleet, Problem, Target } from "@flotilla/shared/dashboard";
import { namespaces } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { hangMs } from "../harness/hang.ts";
import { roleBindings } from "../harness/rbac.ts";
import { openPage, startBrowser } from "./browser.ts";
import { logIn, startDashboardFleet } from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({ clusters: [{}] });
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const browser = await startBrowser();
const admin = await dashboard.adminToken();
const tenant = "team-a";
await hub.create(namespaces, { metadata: { name: tenant } });
for (const namespace of [tenant, workspaceNamespace])
  await hub.create(helmOps, {
    metadata: { namespace, name: `of-${namespace}` },
    spec: { helm: { repo: charts.url, chart: "none", version: "1" } },
  });
await hub.create(bundles, {
  metadata: { namespace: workspaceNamespace, name: "by-hand" },
  spec: { targets: [{ clusterSelector: {} }] },
});
await hub.create(clusters, { metadata: { namespace: tenant, name: "of-team-a" }, spec: {} });

test("a user who may list one namespace sees only that one, and gets 403 on a link into another", async (t) => {
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, await dashboard.readerToken(tenant));

  await page
    .getByRole("link", { name: /of-team-a/ })
    .first()
    .waitFor();
  const read = async (path: string) => {
    const answer = await page.request.get(`${address}${path}`);
    return { status: answer.status(), body: (await answer.json()) as unknown };
  };
  const {
    apps,
    clusters: seen,
    rows,
    events,
    columns,
  } = (await read("/api/v1/fleet")).body as Fleet;
  const all = [...apps, ...seen, ...rows, ...events].map(({ namespace }) => namespace);
  assert.deepEqual([...new Set(all)], [tenant]);
  assert.deepEqual(columns, [`${tenant}/of-team-a`]);
  assert.deepEqual(
    apps.map(({ name }) => name),
    ["of-team-a"],
  );

  const other = await read(`/api/v1/apps/HelmOp/${workspaceNamespace}/of-${workspaceNamespace}`);
  assert.equal(other.status, 403);
  assert.equal(
    (other.body as Problem).message,
    "you may not list helmops in namespace fleet-default",
  );
  await page.goto(`${address}/apps/HelmOp/${workspaceNamespace}/of-${workspaceNamespace}`);
  await page.getByText("You may not list helmops in namespace fleet-default").waitFor();
});

test("a user whose right is withdrawn sees nothing more, without a reload", async (t) => {
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, await dashboard.readerToken(workspaceNamespace));
  await page
    .getByRole("link", { name: /of-fleet-default/ })
    .first()
    .waitFor();

  const name = `reader-${workspaceNamespace}`;
  await hub.delete(roleBindings, { namespace: workspaceNamespace, name });

  await page.getByText("Nothing is here yet").waitFor({ timeout: hangMs });
});

test("an administrator sees one namespace of the overview, and links to the same of the lists", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, admin);
  await page.getByRole("link", { name: "Apps 3" }).waitFor();

  await page.getByRole("combobox", { name: "Namespace" }).selectOption(tenant);
  await page.getByRole("link", { name: "Apps 1" }).click();

  await page.getByRole("link", { name: "HelmOp of-team-a" }).waitFor();
  assert.equal(await page.getByRole("link", { name: /of-fleet-default/ }).count(), 0);
  assert.match(page.url(), /\/apps\?namespace=team-a$/);
  assert.deepEqual(errors, []);
});

test("a user who may not list clusters sees those that an app is deployed to, and no others", async () => {
  const namespace = "team-b";
  await hub.create(namespaces, { metadata: { name: namespace } });
  await hub.create(clusters, { metadata: { namespace, name: "secret-site" }, spec: {} });
  await hub.create(clusters, { metadata: { namespace, name: "known-site" }, spec: {} });
  await hub.create(helmOps, {
    metadata: { namespace, name: "web" },
    spec: {
      helm: { repo: charts.url, chart: "none", version: "1" },
      targets: [{ clusterName: "known-site" }],
    },
  });
  const targetsFor = async (token: string) => {
    const { cookie } = await sessionOf(token);
    const path = `/api/v1/apps/HelmOp/${namespace}/web/targets`;
    const answer = await fetch(`${address}${path}`, { headers: { cookie } });
    const { targets } = (await answer.json()) as { readonly targets: readonly Target[] };
    return targets.map(({ name }) => name).sort();
  };

  assert.deepEqual(await targetsFor(await dashboard.readerToken(namespace, ["helmops"])), [
    "known-site",
  ]);
  assert.deepEqual(await targetsFor(admin), ["known-site", "secret-site"]);
});

/** A session without a browser. */
async function sessionOf(token: string): Promise<{ readonly cookie: string }> {
  const answer = await fetch(`${address}/api/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "flotilla-csrf": "login" },
    body: JSON.stringify({ token }),
  });
  assert.equal(answer.status, 200);
  const pairs = answer.headers.getSetCookie().map((each) => each.split(";", 1)[0] ?? "");
  return { cookie: pairs.join("; ") };
}
