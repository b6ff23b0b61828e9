/** How an assignment lies in the agent's cluster: one Secret for each deployment. Pure. */
import { createHash } from "node:crypto";
import type { DeploymentKey } from "@flotilla/proto/messages.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import type { Secret } from "@flotilla/shared/kube/core-resources.ts";

export const assignmentSelector = "flotilla.dev/assignment=true";
const assignmentLabel = "flotilla.dev/assignment";
const annotations = {
  name: "flotilla.dev/deployment",
  uid: "flotilla.dev/uid",
  deploymentId: "flotilla.dev/deployment-id",
  paused: "flotilla.dev/paused",
  withdrawing: "flotilla.dev/withdrawing",
} as const;

/** A deployment as this cluster is to have it: what was told last, whatever has become of it. */
export interface HeldAssignment {
  readonly owner: DeploymentKey;
  readonly deploymentId: string;
  /** Packed. */
  readonly content: Uint8Array;
  readonly paused: boolean;
  /** To be uninstalled. */
  readonly withdrawing: boolean;
}

/** Names of Secrets end at 253 characters; a longer one ends in a digest. */
function secretName(deployment: string): string {
  const name = `assignment-${deployment}`;
  if (name.length <= 253) return name;
  return `${name.slice(0, 236)}-${createHash("sha256").update(deployment).digest("hex").slice(0, 16)}`;
}

export function assignmentSecret(
  held: HeldAssignment,
  resourceVersion: string | undefined,
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: secretName(held.owner.name),
      ...(resourceVersion !== undefined && { resourceVersion }),
      labels: { [assignmentLabel]: "true" },
      annotations: {
        [annotations.name]: held.owner.name,
        [annotations.uid]: held.owner.uid,
        [annotations.deploymentId]: held.deploymentId,
        [annotations.paused]: String(held.paused),
        [annotations.withdrawing]: String(held.withdrawing),
      },
    },
    type: "flotilla.dev/assignment",
    data: { content: Buffer.from(held.content).toString("base64") },
  };
}

/** Undefined for a Secret that is no assignment. */
export function heldAssignment(secret: Secret): HeldAssignment | undefined {
  const found = secret.metadata.annotations ?? {};
  const {
    [annotations.name]: name,
    [annotations.uid]: uid,
    [annotations.deploymentId]: deploymentId,
  } = found;
  const content = secret.data?.["content"];
  if (
    name === undefined ||
    uid === undefined ||
    deploymentId === undefined ||
    content === undefined
  )
    return undefined;
  return {
    owner: { name, uid },
    deploymentId,
    content: Buffer.from(content, "base64"),
    paused: found[annotations.paused] === "true",
    withdrawing: found[annotations.withdrawing] === "true",
  };
}
