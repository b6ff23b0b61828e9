/**
 * How an assignment lies in the agent's cluster: one Secret for each deployment, with the content in it. What does not
 * fit lies beside it, in parts that never change and are named by what is in them. Pure.
 */
import { createHash } from "node:crypto";
import type { DeploymentKey } from "@flotilla/proto/messages.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { contentParts } from "@flotilla/shared/content/content-parts.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";

const assignmentLabel = "flotilla.dev/assignment";
const partLabel = "flotilla.dev/assignment-part";
export const assignmentSelector = `${assignmentLabel}=true`;
export const partSelector = `${partLabel}=true`;

const annotations = {
  name: "flotilla.dev/deployment",
  uid: "flotilla.dev/uid",
  deploymentId: "flotilla.dev/deployment-id",
  paused: "flotilla.dev/paused",
  withdrawing: "flotilla.dev/withdrawing",
  /** How many Secrets the content takes, this one included. */
  parts: "flotilla.dev/parts",
} as const;
const dataKey = "content";

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
export function assignmentName(deployment: string): string {
  const name = `assignment-${deployment}`;
  if (name.length <= 253) return name;
  return `${name.slice(0, 236)}-${hex(deployment).slice(0, 16)}`;
}

export function assignmentSecret(held: HeldAssignment): Secret {
  const [first = new Uint8Array(), ...others] = contentParts(held.content);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: assignmentName(held.owner.name),
      labels: { [assignmentLabel]: "true" },
      annotations: {
        [annotations.name]: held.owner.name,
        [annotations.uid]: held.owner.uid,
        [annotations.deploymentId]: held.deploymentId,
        [annotations.paused]: String(held.paused),
        [annotations.withdrawing]: String(held.withdrawing),
        ...(others.length > 0 && { [annotations.parts]: String(others.length + 1) }),
      },
    },
    type: "flotilla.dev/assignment",
    data: { [dataKey]: base64(first) },
  };
}

/** The Secrets beside the first. To be there before it, so that the first means all. */
export function partSecrets(held: HeldAssignment): readonly Secret[] {
  const [, ...others] = contentParts(held.content);
  return others.map((bytes, index) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: partName(held.owner.name, held.deploymentId, index + 1),
      labels: { [partLabel]: "true" },
      annotations: { [annotations.name]: held.owner.name },
    },
    type: "flotilla.dev/assignment-part",
    immutable: true,
    data: { [dataKey]: base64(bytes) },
  }));
}

/** The names of the Secrets that belong to an assignment's own, in order. */
export function partNamesOf(first: Secret): readonly string[] {
  const { [annotations.name]: name = "", [annotations.deploymentId]: deploymentId = "" } =
    first.metadata.annotations ?? {};
  const parts = Number(first.metadata.annotations?.[annotations.parts] ?? "1");
  const others = Number.isInteger(parts) && parts > 1 ? parts - 1 : 0;
  return Array.from({ length: others }, (_, index) => partName(name, deploymentId, index + 1));
}

/** Undefined for a Secret that is no assignment, or of which a part is missing. */
export function heldAssignment(
  first: Secret,
  partOf: (name: string) => Secret | undefined = () => undefined,
): HeldAssignment | undefined {
  const found = first.metadata.annotations ?? {};
  const {
    [annotations.name]: name,
    [annotations.uid]: uid,
    [annotations.deploymentId]: deploymentId,
  } = found;
  const parts = [first, ...partNamesOf(first).map(partOf)].map((part) => part?.data?.[dataKey]);
  const texts = parts.filter((text) => text !== undefined);
  if (
    name === undefined ||
    uid === undefined ||
    deploymentId === undefined ||
    texts.length < parts.length
  )
    return undefined;
  return {
    owner: { name, uid },
    deploymentId,
    content: Buffer.concat(texts.map((text) => Buffer.from(text, "base64"))),
    paused: found[annotations.paused] === "true",
    withdrawing: found[annotations.withdrawing] === "true",
  };
}

function partName(deployment: string, deploymentId: string, part: number): string {
  return `content-${hex(`${deployment}\n${deploymentId}`).slice(0, 40)}-${part}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

function hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
