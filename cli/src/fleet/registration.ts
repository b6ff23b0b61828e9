/** Lets clusters join: a registration token on the hub, and in each cluster the Secret that its agent enrols with. */
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { apiVersion, clusterRegistrationTokens, clusters } from "@flotilla/shared/api/resources.ts";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/client/status-error.ts";
import { namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import { waitForObject } from "./wait.ts";

/** The Secret in an agent's cluster that it enrols with. */
const bootstrapSecret = "flotilla-bootstrap";

const waitMs = 30_000;

/** The data of a registration token's Secret; the token is made where there is none of that name. */
export async function ensureRegistrationToken(
  hub: KubeRest,
  workspace: string,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  await workspaceMade(hub, workspace);
  const token: ClusterRegistrationToken = {
    apiVersion,
    kind: "ClusterRegistrationToken",
    metadata: { namespace: workspace, name },
    spec: {},
  };
  await createUnlessThere(hub, clusterRegistrationTokens, token);
  return tokenData(hub, { namespace: workspace, name });
}

/** Resolves when the workspace is there: the replica that leads makes it, some moments after the hub answers for its health. */
export async function workspaceMade(hub: KubeRest, workspace: string): Promise<void> {
  await waitForObject(namespaces, { name: workspace }, (seen) => seen !== undefined, {
    rest: hub,
    timeoutMs: waitMs,
    onTimeout: () => `the hub has not made the namespace ${workspace} within ${waitMs / 1000} s`,
  });
}

/** The data of the Secret that the hub makes for a registration token, base64: the hub's address, its CA, the token. */
export async function tokenData(
  hub: KubeRest,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Readonly<Record<string, string>>> {
  const ready = await waitForObject(
    clusterRegistrationTokens,
    { namespace, name },
    (seen) => (seen?.status?.secretName ?? "") !== "",
    {
      rest: hub,
      timeoutMs: waitMs,
      onTimeout: () =>
        `the hub has made no Secret for the registration token ${namespace}/${name} within ${waitMs / 1000} s`,
    },
  );
  const secretName = ready?.status?.secretName ?? "";
  const secret = await hub.get(secrets, { namespace, name: secretName });
  if (secret?.data === undefined) {
    throw new AppError(
      commonErrors.INTERNAL,
      `the Secret ${namespace}/${secretName} of the registration token ${name} is not there`,
    );
  }
  return secret.data;
}

/** Leaves in the cluster what its agent enrols with. An agent that has enrolled with another token before enrols anew. */
export async function createBootstrapSecret(
  cluster: KubeRest,
  registration: Readonly<Record<string, string>>,
  identity: { readonly clusterName: string; readonly labels: Readonly<Record<string, string>> },
): Promise<void> {
  await createUnlessThere(cluster, namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: agentNamespace },
  });
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: agentNamespace, name: bootstrapSecret },
    type: "Opaque",
    data: {
      ...registration,
      clusterName: base64(identity.clusterName),
      labels: base64(JSON.stringify(identity.labels)),
    },
  };
  try {
    await cluster.create(secrets, secret);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
    await cluster.patch(secrets, secret.metadata, { type: "merge", body: { data: secret.data } });
  }
}

/** Resolves when the agent of a cluster is connected to the hub. */
export async function waitForAgent(
  hub: KubeRest,
  workspace: string,
  name: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await waitForObject(
    clusters,
    { namespace: workspace, name },
    (cluster) => cluster?.status?.agent?.connected === true,
    {
      rest: hub,
      timeoutMs,
      ...(signal !== undefined && { signal }),
      onTimeout: (cluster) =>
        `the agent of ${workspace}/${name} has not connected within ${timeoutMs / 1000} s: ${cluster === undefined ? "it has not enrolled" : "it has enrolled and is not connected"}`,
    },
  );
}

async function createUnlessThere<T extends KubeObject>(
  rest: KubeRest,
  resource: Resource<T>,
  object: T,
): Promise<void> {
  try {
    await rest.create(resource, object);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
