/** Links that log in to the dashboard of a local fleet once, as a ServiceAccount that may do everything on its hub. */
import { randomBytes } from "node:crypto";
import { hubNamespace, loginCodeSecretName, loginCodeSecretType } from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  type Resource,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { createIfMissing } from "./registration.ts";

/** Only a local fleet has it: no chart creates it. */
const account = "flotilla-local-dashboard";
/** The lifetime of the token, which the session has. */
const tokenSeconds = 24 * 3_600;
const codeBytes = 18;

const clusterRoleBindings: Resource<KubeObject> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};
const answerSchema = z.looseObject({ status: z.looseObject({ token: z.string().min(1) }) });

/** `address`: of the dashboard. The link is valid for one login within a day. */
export async function createLoginLink(hub: KubeRest, address: string): Promise<string> {
  const metadata = { namespace: hubNamespace, name: account };
  await createIfMissing(hub, serviceAccounts, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata,
    automountServiceAccountToken: false,
  });
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: account },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  };
  await createIfMissing(hub, clusterRoleBindings, binding);
  const body = JSON.stringify({
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: tokenSeconds },
  });
  const path = `/api/v1/namespaces/${hubNamespace}/serviceaccounts/${account}/token`;
  const { status } = answerSchema.parse(JSON.parse(await hub.raw(path, { body })));
  const code = randomBytes(codeBytes).toString("base64url");
  await hub.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    type: loginCodeSecretType,
    metadata: { namespace: hubNamespace, name: loginCodeSecretName(code) },
    data: { token: Buffer.from(status.token).toString("base64") },
  });
  // A browser does not send what follows the `#`.
  return `${address}/#login=${code}`;
}
