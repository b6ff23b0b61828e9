/** Registers clusters: a registration token on the hub, and in each cluster the bootstrap Secret of its agent. */

import {
  apiVersion,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api";
import { agentNamespace } from "@flotilla/shared/api/names";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  namespaces,
  type Resource,
  type Secret,
  secrets,
} from "@flotilla/shared/kube/objects";
import { waitForObject } from "./wait.ts";

/** Name of the Secret that an agent reads its registration token from. */
const bootstrapSecret = "flotilla-bootstrap";

const waitMs = 120_000;

/** The data of a registration token's Secret. Creates the token when it does not exist. */
export async function ensureRegistrationToken(
  hub: KubeRest,
  workspace: string,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  await waitForWorkspace(hub, workspace);
  const token: ClusterRegistrationToken = {
    apiVersion,
    kind: "ClusterRegistrationToken",
    metadata: { namespace: workspace, name },
    // Who runs the fleet names its clusters, also after a HelmOp was applied that names one in a target.
    spec: { allowedClusterNames: ["*"] },
  };
  await createIfMissing(hub, clusterRegistrationTokens, token);
  return registrationSecretData(hub, { namespace: workspace, name });
}

/** Waits for the namespace: the leader creates it some time after the hub is ready. */
export async function waitForWorkspace(hub: KubeRest, workspace: string): Promise<void> {
  await waitForObject(namespaces, { name: workspace }, (namespace) => namespace !== undefined, {
    rest: hub,
    timeoutMs: waitMs,
    onTimeout: () =>
      `wait for namespace ${workspace}: the hub has not created it after ${waitMs / 1000} s`,
  });
}

/** The data of the Secret that the hub creates for a registration token, in base64: address and CA of the hub, token. */
export async function registrationSecretData(
  hub: KubeRest,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Readonly<Record<string, string>>> {
  const ready = await waitForObject(
    clusterRegistrationTokens,
    { namespace, name },
    (token) => (token?.status?.secretName ?? "") !== "",
    {
      rest: hub,
      timeoutMs: waitMs,
      onTimeout: () =>
        `wait for ClusterRegistrationToken ${namespace}/${name}: the hub has not created its Secret after ${waitMs / 1000} s`,
    },
  );
  const secretName = ready?.status?.secretName ?? "";
  const secret = await hub.get(secrets, { namespace, name: secretName });
  if (secret?.data === undefined) {
    throw new AppError(
      commonErrors.INTERNAL,
      `read ClusterRegistrationToken ${namespace}/${name}: its Secret ${secretName} does not exist`,
    );
  }
  return secret.data;
}

/** Creates or updates the bootstrap Secret in a cluster. An agent that registered with another token registers again. */
export async function createBootstrapSecret(
  cluster: KubeRest,
  registration: Readonly<Record<string, string>>,
  identity: { readonly clusterName: string; readonly labels: Readonly<Record<string, string>> },
): Promise<void> {
  await createIfMissing(cluster, namespaces, {
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

/** Waits until the agent of a cluster is connected to the hub. Throws CANCELLED after `timeoutMs`. */
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
        `wait for the agent of ${workspace}/${name}: not connected after ${timeoutMs / 1000} s, ${cluster === undefined ? "not registered" : "but registered"}; see its log`,
    },
  );
}

export async function createIfMissing<T extends KubeObject>(
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
