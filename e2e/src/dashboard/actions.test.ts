/** Actions in a real browser: as far as the user's own rights go, with the command that does the same. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { waitForRevision } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { openPage, startBrowser } from "./browser.ts";
import { act, logIn, startDashboardFleet, versionedChart } from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({ clusters: [{}], names: ["paris"] });
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const [paris] = fleet.clusters;
assert.ok(paris !== undefined);
const admin = await dashboard.adminToken();
const browser = await startBrowser();
const ref = { namespace, name: "web" };
const polled = { namespace, name: "polled" };
for (const [{ name }, pollingInterval] of [
  [ref, undefined],
  [polled, "1h"],
] as const) {
  charts.publish(await versionedChart(name, "1.0.0"));
  await hub.create(helmOps, {
    metadata: { namespace, name },
    spec: {
      helm: { repo: charts.url, chart: name, version: "1.x" },
      targets: [{ clusterSelector: {} }],
      ...(pollingInterval !== undefined && { pollingInterval }),
    },
  });
}
for (const each of [ref, polled])
  await waitForObject(hub, helmOps, each, "ready", ({ status }) => status?.readyClusters === 1);
const page = `${address}/apps/HelmOp/${namespace}/web`;
const who = "system:serviceaccount:dashboard-users:admin on the dashboard";

test("a HelmOp is suspended, resumed and reconciled, and the events say who did it", async (t) => {
  const { page: view, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(view, address, admin);
  await view.goto(page);

  assert.equal(await act(view, "Suspend"), `flotilla suspend helmop web -n ${namespace}`);
  await view.getByText("suspended", { exact: true }).first().waitFor();
  await waitForObject(hub, helmOps, ref, "suspended", ({ spec }) => spec.suspend === true);
  charts.publish(await versionedChart("web", "1.1.0"));
  await act(view, "Resume");
  await waitForObject(hub, helmOps, ref, "resumed", ({ spec }) => spec.suspend === false);
  await act(view, "Reconcile");
  await waitForObject(hub, helmOps, ref, "upgraded", ({ status }) => status?.version === "1.1.0");

  await view.getByText("1.1.0").first().waitFor();
  for (const what of ["suspended", "resumed", "reconciliation requested"])
    await view.getByText(`${what} by ${who}`).waitFor();
  await view.getByText(/, changed .* by the field manager flotilla-dashboard/).waitFor();
  assert.deepEqual(errors, []);
});

test("a poll finds a new version at once, an hour before the next one", async (t) => {
  const { page: view, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(view, address, admin);
  await view.goto(`${address}/apps/HelmOp/${namespace}/polled`);
  charts.publish(await versionedChart("polled", "1.1.0"));

  assert.match(
    await act(view, "Poll now"),
    /^flotilla reconcile helmop polled -n fleet-default --poll$/,
  );

  await waitForObject(
    hub,
    helmOps,
    polled,
    "upgraded",
    ({ status }) => status?.version === "1.1.0",
  );
  await view.getByText(`poll requested by ${who}`).waitFor();
  const history = view.getByRole("region", { name: "History" });
  await history.getByText("1.1.0", { exact: true }).waitFor();
  assert.deepEqual(errors, []);
});

test("a forced upgrade is one more revision of Helm, of the same version", async (t) => {
  const { page: view, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(view, address, admin);
  await view.goto(`${address}/clusters/${namespace}/paris/releases/HelmOp/${namespace}/polled`);
  const release = view.getByRole("region", { name: "Helm release" });
  await release.getByText(/^Revision 2: 1\.1\.0$/).waitFor();

  assert.equal(
    await act(view, "Force"),
    `flotilla reconcile helmop polled -n ${namespace} --force`,
  );

  await waitForRevision(paris.client, "polled", 3, "deployed", "default");
  await release.getByText(/^Revision 3: 1\.1\.0$/).waitFor();
  await view.goto(`${address}/apps/HelmOp/${namespace}/polled`);
  await view
    .getByText(
      /^Last request: Cluster fleet-default\/paris: the release was upgraded, revision 3\.$/,
    )
    .waitFor();
  const correct = view.getByRole("button", { name: "Correct drift" });
  assert.equal(await correct.getAttribute("aria-disabled"), "true");
  await correct.click({ force: true });
  await view
    .locator(".action-panel")
    .getByText("no drift was found in the objects of its releases")
    .waitFor();
  assert.deepEqual(errors, []);
});

test("a user who may only list sees why an action is not allowed, and cannot do it either", async (t) => {
  const { page: view, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(view, address, await dashboard.readerToken(namespace));
  await view.goto(page);

  const suspend = view.getByRole("button", { name: "Suspend" });
  await suspend.waitFor();
  assert.equal(await suspend.getAttribute("aria-disabled"), "true");
  // It can still be opened, for the reason.
  await suspend.click({ force: true });
  const panel = view.locator(".action-panel");
  await panel.getByText(`you may not patch helmops in namespace ${namespace}`).waitFor();
  assert.ok(await panel.getByRole("button", { name: "Suspend" }).isDisabled());

  const session = (await (await view.request.get(`${address}/api/v1/session`)).json()) as {
    readonly csrfToken: string;
  };
  const data = { action: "suspend", kind: "HelmOp", ...ref };
  const headers = { "flotilla-csrf": session.csrfToken };
  const answer = await view.request.post(`${address}/api/v1/actions`, { data, headers });
  assert.equal(answer.status(), 403);
  assert.match(
    await answer.text(),
    /the API server rejects it: .*reader-fleet-default may not patch helmops/,
  );
  // Without the token of the session, or from another site, nobody's rights count.
  const forged = await view.request.post(`${address}/api/v1/actions`, { data });
  assert.equal(forged.status(), 403);
  assert.match(await forged.text(), /REQUEST_FORGED/);
});
