/** Registration tokens, and agents that enrol with them. */
import {
  apiVersion,
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
} from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createNamespace, workspace } from "./hub-control-plane.ts";
import { type InProcessAgent, startInProcessAgent } from "./in-process-agent.ts";
import type { InProcessHub } from "./in-process-hub.ts";

/** Creates a registration token; resolves with the data of its Secret. */
export async function createToken(
  rest: KubeRest,
  hub: InProcessHub,
  name: string,
  spec: ClusterRegistrationToken["spec"] = {},
): Promise<Readonly<Record<string, string>>> {
  await rest.create(clusterRegistrationTokens, {
    apiVersion,
    kind: "ClusterRegistrationToken",
    metadata: { name, namespace: workspace },
    spec,
  });
  const key = `${workspace}/${name}`;
  await hub.until(() => hub.tokens.store.get(key)?.status?.secretName !== undefined, "the token");
  const secret = await rest.get(secrets, { namespace: workspace, name });
  return secret?.data ?? {};
}

/** Creates an agent's bootstrap Secret: the data of a token's Secret, and `more` for the agent. */
export async function createBootstrap(
  rest: KubeRest,
  namespace: string,
  token: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  await createNamespace(rest, namespace);
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "flotilla-bootstrap", namespace },
    data: { ...token, ...encoded(more) },
  };
  await rest.create(secrets, secret);
}

export function encoded(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

/** Enrols and connects one agent under a name. */
export async function startEnrolledAgent(
  rest: KubeRest,
  hub: InProcessHub,
  token: Readonly<Record<string, string>>,
  name: string,
): Promise<InProcessAgent> {
  const namespace = `agent-${name}`;
  await createBootstrap(rest, namespace, token, { clusterName: name, clientID: `client-${name}` });
  const agent = startInProcessAgent(rest, namespace);
  await waitUntilConnected(hub, name);
  await createNamespace(rest, clusterNamespaceName(workspace, name));
  return agent;
}

export function clusterOf(hub: InProcessHub, name: string): Cluster | undefined {
  return hub.clusters.store.get(`${workspace}/${name}`);
}

export async function waitUntilConnected(hub: InProcessHub, name: string): Promise<void> {
  await hub.until(
    () => clusterOf(hub, name)?.status?.agent?.connected === true,
    `${name} connects`,
  );
}
