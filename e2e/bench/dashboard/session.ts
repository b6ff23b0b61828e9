/** Sessions of the dashboard, as a login of its page has them. */
import { createLoginLink } from "@flotilla/cli/fleet";
import { hubNamespace } from "@flotilla/shared/api/names";
import { type BodyOf, csrfHeader, loginCsrfToken } from "@flotilla/shared/dashboard";
import { type KubeObject, type Resource, serviceAccounts } from "@flotilla/shared/kube/objects";
import type { Browser, BrowserContext } from "playwright-core";
import type { BenchFleet } from "../measure/bench-fleet.ts";

export interface ViewerSession {
  readonly address: string;
  /** The header Cookie. */
  readonly cookie: string;
}

/** `login`: a token, or the code of a link that logs in once. */
export async function logIn(
  address: string,
  login: BodyOf<"beginSession">,
): Promise<ViewerSession> {
  const response = await fetch(`${address}/api/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", [csrfHeader]: loginCsrfToken },
    body: JSON.stringify(login),
  });
  if (!response.ok) throw new Error(`the login failed: ${await response.text()}`);
  const pairs = response.headers.getSetCookie().map((each) => each.split(";", 1)[0] ?? "");
  return { address, cookie: pairs.filter((pair) => !pair.endsWith("=")).join("; ") };
}

/** As somebody who may do everything on the hub of a bench fleet. */
export async function logInAsAdmin({ fleet }: Pick<BenchFleet, "fleet">): Promise<ViewerSession> {
  const address = `http://127.0.0.1:${fleet.hubPorts.http}`;
  const link = await createLoginLink(fleet.hub, address);
  return await logIn(address, { code: link.slice(link.indexOf("=") + 1) });
}

const clusterRoleBindings: Resource<KubeObject> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};

/** As a user of its own, who may do everything: a hub limits what one user may have open. */
export async function logInAsViewer(
  { fleet: { hub, hubPorts } }: Pick<BenchFleet, "fleet">,
  name: string,
): Promise<ViewerSession> {
  const metadata = { namespace: hubNamespace, name };
  await hub.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  };
  await hub.create(clusterRoleBindings, binding);
  const path = `/api/v1/namespaces/${hubNamespace}/serviceaccounts/${name}/token`;
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const answer = JSON.parse(await hub.raw(path, { body: JSON.stringify(request) })) as {
    readonly status: { readonly token: string };
  };
  return await logIn(`http://127.0.0.1:${hubPorts.http}`, { token: answer.status.token });
}

/** With an empty cache. */
export async function openContext(
  browser: Browser,
  { address, cookie }: ViewerSession,
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  // Chromium stores no `__Host-` cookie for an http address from here, but sends it to this machine over http.
  const url = address.replace("http:", "https:");
  await context.addCookies(
    cookie.split("; ").map((pair) => {
      const at = pair.indexOf("=");
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      return { name, value, url, secure: true, httpOnly: true, sameSite: "Strict" };
    }),
  );
  return context;
}
