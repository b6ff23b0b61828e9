/** Helm's records of releases as a tenant of the cluster changes them, and agents whose deployments they belong to. */
import assert from "node:assert/strict";
import { gunzipSync, gzipSync } from "node:zlib";
import type { AssignmentRequest } from "@flotilla/agent/state";
import { agentNamespace } from "@flotilla/shared/api/names";
import { packContent, unpackContent } from "@flotilla/shared/content";
import { configMaps, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import type { InProcessInstaller } from "../harness/in-process-installer.ts";
import { configMapText } from "../harness/object-text.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";

export type Release = Readonly<Record<string, unknown>>;

/** The data of the record with other fields of its release. */
export function edited(secret: Secret, change: (release: Release) => Release): Secret["data"] {
  const inner = Buffer.from(secret.data?.["release"] ?? "", "base64").toString();
  const release = JSON.parse(gunzipSync(Buffer.from(inner, "base64")).toString()) as Release;
  const packed = gzipSync(JSON.stringify(change(release))).toString("base64");
  return { release: Buffer.from(packed).toString("base64") };
}

/** With a hook that creates a ConfigMap in kube-system. */
export function withHook(name: string, event = "pre-delete"): (release: Release) => Release {
  return (release) => ({
    ...release,
    hooks: [
      {
        name,
        kind: "ConfigMap",
        path: "x/hook.yaml",
        manifest: configMapText(name, { namespace: "kube-system" }),
        events: [event],
      },
    ],
  });
}

/** With a ConfigMap of kube-system in its manifest. */
export function withObject(name: string): (release: Release) => Release {
  return (release) => ({
    ...release,
    manifest: `${String(release["manifest"])}\n---\n${configMapText(name, { namespace: "kube-system" })}`,
  });
}

/** The record of a release in a namespace of the same name. */
export async function recordOf(
  client: ClusterClient,
  name: string,
  revision: number,
): Promise<Secret> {
  const ref = { namespace: name, name: `sh.helm.release.v1.${name}.v${revision}` };
  const found = await client.reader.get(secrets, ref);
  assert.ok(found !== undefined);
  return found;
}

export async function edit(
  client: ClusterClient,
  name: string,
  revision: number,
  change: (release: Release) => Release,
): Promise<void> {
  const record = await recordOf(client, name, revision);
  const { name: secretName, namespace = "" } = record.metadata;
  const body = { data: edited(record, change) };
  await client.patch(secrets, { namespace, name: secretName }, { type: "merge", body });
}

/** Those of the agent with this in their names. */
export async function deleteAgentSecrets(client: ClusterClient, part: string): Promise<void> {
  for (const { metadata } of await client.reader.list(secrets, { namespace: agentNamespace }))
    if (metadata.name.includes(part))
      await client.delete(secrets, { namespace: agentNamespace, name: metadata.name });
}

/** Whether a ConfigMap is there. */
export async function isInKubeSystem(client: ClusterClient, name: string): Promise<boolean> {
  return (await client.reader.get(configMaps, { namespace: "kube-system", name })) !== undefined;
}

/** The API server rejects its update, after Helm has stored the revision. */
export function rejectedChart(name: string, version: string): Promise<ChartArchive> {
  return chartArchive({ name, version, templates: { "config.yaml": configMapText("Not_A_Name") } });
}

export async function assign(
  agent: InProcessInstaller,
  deployment: DeploymentSpec,
): Promise<AssignmentRequest> {
  const request = await assignmentOf(deployment);
  await agent.intake.assign(request);
  return request;
}

/** A change of forceSyncGeneration, which is how a user forces a deployment. */
export async function force(
  agent: InProcessInstaller,
  request: AssignmentRequest,
  generation: number,
): Promise<void> {
  const { deploymentId, content: bytes = new Uint8Array() } = request;
  const content = await unpackContent({ deploymentId, bytes });
  const packed = await packContent({ ...content, forceSyncGeneration: generation });
  await agent.intake.assign({
    ...request,
    deploymentId: packed.deploymentId,
    content: packed.bytes,
  });
}
