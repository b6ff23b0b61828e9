/** Tokens, and agents that came with them. */
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
import { startAgent, type TestAgent } from "./in-process-agent.ts";
import type { TestHub } from "./in-process-hub.ts";

/** Makes a registration token and gives what its Secret holds, as somebody copies it. */
export async function makeToken(
  rest: KubeRest,
  hub: TestHub,
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

/** Puts the content of a token's Secret into an agent's namespace, with what else the agent is to say. */
export async function bootstrap(
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
export async function startEnrolled(
  rest: KubeRest,
  hub: TestHub,
  token: Readonly<Record<string, string>>,
  name: string,
): Promise<TestAgent> {
  const namespace = `agent-${name}`;
  await bootstrap(rest, namespace, token, { clusterName: name, clientID: `client-${name}` });
  const agent = startAgent(rest, namespace);
  await connected(hub, name);
  await createNamespace(rest, clusterNamespaceName(workspace, name));
  return agent;
}

export function clusterOf(hub: TestHub, name: string): Cluster | undefined {
  return hub.clusters.store.get(`${workspace}/${name}`);
}

export async function connected(hub: TestHub, name: string): Promise<void> {
  await hub.until(
    () => clusterOf(hub, name)?.status?.agent?.connected === true,
    `${name} connects`,
  );
}
