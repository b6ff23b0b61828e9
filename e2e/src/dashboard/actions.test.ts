/** Actions in a real browser: as far as the user's own rights go, with the command that does the same. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { waitForObject } from "../harness/wait.ts";
import { openPage, startBrowser } from "./browser.ts";
import { logIn, startDashboardFleet } from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({ clusters: [{}], names: ["paris"] });
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const browser = await startBrowser();
const ref = { namespace, name: "web" };
const chart = (version: string) =>
  chartArchive({
    name: "web",
    version,
    templates: { "all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n" },
  });
charts.publish(await chart("1.0.0"));
await hub.create(helmOps, {
  metadata: ref,
  spec: {
    helm: { repo: charts.url, chart: "web", version: "1.x" },
    targets: [{ clusterSelector: {} }],
  },
});
await waitForObject(hub, helmOps, ref, "ready", ({ status }) => status?.readyClusters === 1);
const page = `${address}/apps/HelmOp/${namespace}/web`;

test("a HelmOp is suspended, resumed and reconciled, and the events say who did it", async (t) => {
  const { page: view, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(view, address, await dashboard.adminToken());
  await view.goto(page);

  async function act(name: string): Promise<string> {
    const panel = view.locator(".action-panel");
    await view.getByRole("button", { name, exact: true }).click();
    const command = (await panel.locator("code").textContent()) ?? "";
    await panel.getByRole("button", { name, exact: true }).click();
    await panel.waitFor({ state: "detached" });
    return command;
  }

  assert.equal(
    await act("Suspend"),
    `kubectl patch helmop web -n ${namespace} --type merge -p '{"spec":{"suspend":true}}'`,
  );
  await view.getByText("suspended", { exact: true }).first().waitFor();
  await waitForObject(hub, helmOps, ref, "suspended", ({ spec }) => spec.suspend === true);
  charts.publish(await chart("1.1.0"));
  await act("Resume");
  await waitForObject(hub, helmOps, ref, "resumed", ({ spec }) => spec.suspend === false);
  await act("Reconcile");
  await waitForObject(hub, helmOps, ref, "upgraded", ({ status }) => status?.version === "1.1.0");

  await view.getByText("1.1.0").first().waitFor();
  const who = "system:serviceaccount:dashboard-users:admin on the dashboard";
  for (const what of ["suspended", "resumed", "reconciliation requested"])
    await view.getByText(`${what} by ${who}`).waitFor();
  await view.getByText(/, changed .* with flotilla-dashboard/).waitFor();
  assert.deepEqual(errors, []);
});

test("a user who may only list sees why an action is not allowed, and cannot do it either", async (t) => {
  const { page: view, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(view, address, await dashboard.readerToken(namespace));
  await view.goto(page);

  await view.getByRole("button", { name: "Suspend" }).click();
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
