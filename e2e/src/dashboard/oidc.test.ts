/** Login with a real OpenID provider, in a real browser: who it is, what they see, and as whom the API server gets requests. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import type { Fleet, LoginMethods, Session } from "@flotilla/shared/dashboard";
import { namespaces } from "@flotilla/shared/kube/objects";
import type { Page } from "playwright-core";
import { afterAll, type TestContext, test } from "vitest";
import { clusterRoles, roleBindings } from "../harness/rbac.ts";
import { waitForObject } from "../harness/wait.ts";
import { type OpenedPage, openPage, startBrowser } from "./browser.ts";
import { logOut, startDashboardFleet } from "./dashboard-fleet.ts";
import { logInAtProvider, startOpenIdProvider } from "./openid-provider.ts";

const dir = await mkdtemp(join(tmpdir(), "flotilla-oidc-"));
afterAll(() => rm(dir, { recursive: true, force: true }));
const callback = "/api/v1/login/oidc/callback";
const provider = await startOpenIdProvider({
  groups: {
    anna: ["Flotte Süd", "kubeadm:cluster-admins"],
    ben: ["viewers"],
    mallory: ["viewers", "system:masters"],
  },
  redirectUri: () => `${dashboard.address}${callback}`,
});
const secretFile = join(dir, "client-secret");
await writeFile(secretFile, `${provider.client.secret}\n`);
const dashboard = await startDashboardFleet({
  clusters: [{}],
  hubValues: [
    "dashboard.url=https://flotilla.example.com",
    "dashboard.oidc.enabled=true",
    "dashboard.oidc.issuerURL=https://id.example.com",
    "dashboard.oidc.clientID=a",
    "dashboard.oidc.existingSecret=a",
    "dashboard.oidc.groupsPrefix=oidc:",
  ],
  hubFlags: ({ http }) => [
    `--dashboard-url=http://127.0.0.1:${http}`,
    `--oidc-issuer-url=${provider.issuer}`,
    `--oidc-client-id=${provider.client.id}`,
    `--oidc-client-secret-file=${secretFile}`,
    "--oidc-username-prefix=oidc:",
    // Not kubeadm:cluster-admins, which has all rights here.
    ...["Flotte Süd", "viewers", "system:masters"].map((group) => `--oidc-allowed-group=${group}`),
    "--oidc-session-duration=2h",
    "--client-address-header=X-Forwarded-For",
  ],
});
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const browser = await startBrowser();

/** Whose group may list, and change, the HelmOps of each namespace. */
const grants = [
  { namespace: "team-a", group: "Flotte Süd", verbs: ["list", "patch"] },
  { namespace: "team-b", group: "viewers", verbs: ["list"] },
  { namespace: "everybody", group: "system:authenticated", verbs: ["list", "patch"] },
];
for (const { namespace, group, verbs } of grants) {
  const name = `oidc-${namespace}`;
  await hub.create(namespaces, { metadata: { name: namespace } });
  await hub.create(clusterRoles, {
    metadata: { name },
    rules: [{ apiGroups: ["fleet.cattle.io"], resources: ["helmops"], verbs }],
  });
  await hub.create(roleBindings, {
    metadata: { namespace, name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "Group", name: group }],
  });
}
for (const namespace of [...grants.map((grant) => grant.namespace), workspaceNamespace])
  await hub.create(helmOps, {
    metadata: { namespace, name: "web" },
    spec: { helm: { repo: charts.url, chart: "none", version: "1" } },
  });

let users = 0;
/** Each has an address, of which so many logins are accepted, and cookies of its own. */
async function openAsUser(t: TestContext): Promise<OpenedPage> {
  const opened = await openPage(browser);
  t.onTestFinished(() => opened.context.close());
  users += 1;
  await opened.context.setExtraHTTPHeaders({ "x-forwarded-for": `192.0.2.${users}` });
  return opened;
}

const button = (page: Page) => page.getByRole("link", { name: "Log in with your organisation" });
const alert = (page: Page) => page.getByRole("alert");

/** Opens a page of the dashboard without a session, and logs in. */
async function logIn(page: Page, user: string, path = "/"): Promise<void> {
  await page.goto(`${address}${path}`);
  await button(page).click();
  await logInAtProvider(page, user);
}

async function sessionOf(page: Page): Promise<Session> {
  return (await (await page.request.get(`${address}/api/v1/session`)).json()) as Session;
}

async function suspend(page: Page, namespace: string) {
  const { csrfToken } = await sessionOf(page);
  return await page.request.post(`${address}/api/v1/actions`, {
    data: { action: "suspend", kind: "HelmOp", namespace, name: "web" },
    headers: { "flotilla-csrf": csrfToken },
  });
}

test("a user comes back to the page that they wanted, and sees what their group may list", async (t) => {
  const { page, errors } = await openAsUser(t);
  const wanted = "/apps/HelmOp/team-a/web";

  await logIn(page, "anna", wanted);

  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  assert.equal(page.url(), `${address}${wanted}`);
  const { user, groups, expiresAt } = await sessionOf(page);
  assert.equal(user, "oidc:anna");
  assert.deepEqual(groups, ["Flotte Süd", "system:authenticated"]);
  const hours = (Date.parse(expiresAt) - Date.now()) / 3_600_000;
  assert.ok(hours > 1.9 && hours <= 2, `the session ends in ${hours} hours`);
  const { apps } = (await (await page.request.get(`${address}/api/v1/fleet`)).json()) as Fleet;
  assert.deepEqual(apps.map(({ namespace }) => namespace).sort(), ["everybody", "team-a"]);
  const other = await page.request.get(`${address}/api/v1/apps/HelmOp/team-b/web`);
  assert.equal(other.status(), 403);
  assert.deepEqual(errors, []);
});

test("a user changes what their groups may change, and the events say who did it", async (t) => {
  const { page } = await openAsUser(t);
  await logIn(page, "anna", "/apps/HelmOp/team-a/web");
  const panel = page.locator(".action-panel");

  await page.getByRole("button", { name: "Suspend", exact: true }).click();
  await panel.getByRole("button", { name: "Suspend", exact: true }).click();
  await panel.waitFor({ state: "detached" });

  const ref = { namespace: "team-a", name: "web" };
  await waitForObject(hub, helmOps, ref, "suspended", ({ spec }) => spec.suspend === true);
  await page.getByText("suspended by oidc:anna on the dashboard").waitFor();
  await page.getByText(/, changed .* by the field manager flotilla-dashboard/).waitFor();
  // A right that every user has counts for reviews and for requests.
  assert.equal((await suspend(page, "everybody")).status(), 204);
});

test("the API server gets the request as the user, whatever the hub may do", async (t) => {
  const { page } = await openAsUser(t);
  await logIn(page, "ben");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();

  const answer = await suspend(page, "team-b");

  assert.equal(answer.status(), 403);
  assert.match(
    await answer.text(),
    /the API server rejects it: .*user \\"oidc:ben\\" may not patch helmops/,
  );
});

test("a user in a group under system: is rejected, and the message names the group", async (t) => {
  const { page } = await openAsUser(t);

  await logIn(page, "mallory");

  const text = (await alert(page).textContent()) ?? "";
  assert.match(
    text,
    /^the hub impersonates no group under "system:".* a member of system:masters;/,
  );
  assert.equal((await sessionOf(page)).user, undefined);
  // Not any more when the user has logged in as somebody else, and out again.
  await page.getByLabel("Token").fill(await dashboard.readerToken("team-b", ["helmops"]));
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await logOut(page);
  await button(page).waitFor();
  assert.equal(await alert(page).count(), 0);
});

test("a login that is cancelled at the provider comes back with what the provider says", async (t) => {
  const { page } = await openAsUser(t);
  await page.goto(`${address}/apps?state=failed`);
  await button(page).click();

  await page.getByRole("link", { name: "[ Cancel ]" }).click();

  assert.match((await alert(page).textContent()) ?? "", /has not logged you in: access_denied/);
  assert.equal(page.url(), `${address}/apps?state=failed`);
});

test("a login that this browser has not started, with another state or a second time, is rejected", async (t) => {
  const { page } = await openAsUser(t);
  const refused = /^this login was started more than 10 minutes ago, in another browser/;
  async function assertRefused(view: Page, query: string): Promise<void> {
    await view.goto(`${address}${callback}?${query}`);
    assert.match((await alert(view).textContent()) ?? "", refused);
    assert.equal(view.url(), `${address}/`);
  }

  await assertRefused(page, "code=a&state=b");
  await page.goto(address);
  await button(page).click();
  await page.getByPlaceholder("Enter any login").waitFor();
  await assertRefused(page, "code=a&state=b");
  // Not even an error of the provider is shown then, which anybody could have written.
  await assertRefused(page, "error=access_denied&error_description=Call+us&state=b");

  const returned = page.waitForRequest((request) => request.url().includes(callback));
  await logIn(page, "ben");
  const { search } = new URL((await returned).url());
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  const other = await openAsUser(t);
  await assertRefused(other.page, search.slice(1));
  await page.request.delete(`${address}/api/v1/session`, {
    headers: { "flotilla-csrf": (await sessionOf(page)).csrfToken },
  });
  await assertRefused(page, search.slice(1));
});

test("a login leads to no other site, and the cookies of it are those of this host alone", async () => {
  const to = encodeURIComponent("//evil.example.com/");
  const answer = await fetch(`${address}/api/v1/login/oidc?return=${to}`, { redirect: "manual" });

  assert.equal(answer.status, 303);
  const at = new URL(answer.headers.get("location") ?? "");
  assert.equal(at.origin, provider.issuer);
  const asked = Object.fromEntries(at.searchParams);
  assert.deepEqual(Object.keys(asked).sort(), [
    ...["client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri"],
    ...["response_type", "scope", "state"],
  ]);
  assert.equal(asked["code_challenge_method"], "S256");
  assert.equal(asked["redirect_uri"], `${address}${callback}`);
  const [cookie = "", ...others] = answer.headers.getSetCookie();
  assert.deepEqual(others, []);
  assert.match(
    cookie,
    /^__Host-flotilla-login=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const back = await fetch(`${address}${callback}?error=access_denied&state=${asked["state"]}`, {
    redirect: "manual",
    headers: { cookie: cookie.split(";")[0] ?? "" },
  });
  assert.equal(back.headers.get("location"), "/");
});

test("the login page reports too many logins from one address", async () => {
  const headers = { "x-forwarded-for": "198.51.100.1" };
  const begin = () =>
    fetch(`${address}/api/v1/login/oidc?return=/apps`, { redirect: "manual", headers });
  for (let login = 0; login < 10; login += 1)
    assert.match((await begin()).headers.get("location") ?? "", /^http:\/\/localhost:/);

  const answer = await begin();

  assert.equal(answer.headers.get("location"), "/apps");
  const [cookie = ""] = answer.headers.getSetCookie();
  const methods = await fetch(`${address}/api/v1/login`, {
    headers: { cookie: cookie.split(";")[0] ?? "" },
  });
  assert.deepEqual(((await methods.json()) as LoginMethods).failure, {
    code: "LOGIN_LIMITED",
    message: "too many logins; wait a moment, then retry",
  });
});

test("a user who logs out is logged out of the dashboard, and logs in again", async (t) => {
  const { page } = await openAsUser(t);
  await logIn(page, "ben");

  await logOut(page);

  await button(page).waitFor();
  assert.equal((await page.request.get(`${address}/api/v1/session`)).status(), 401);
  // The provider still knows who it is.
  await button(page).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
});

test("the login page reports a wrong client secret, and a corrected one works at once", async (t) => {
  const { page } = await openAsUser(t);
  await writeFile(secretFile, "another");

  await logIn(page, "ben");

  const text = (await alert(page).textContent()) ?? "";
  assert.match(text, /does not accept the hub's client id or secret/);
  assert.ok(!text.includes("another"));
  await writeFile(secretFile, provider.client.secret);
  await button(page).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
});
