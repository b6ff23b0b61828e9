/**
 * The form of an assignment in the agent's cluster: one Secret for each deployment, with the content in it. A content that
 * does not fit is continued in further Secrets, which are immutable and named by their content. Pure.
 */
import { createHash } from "node:crypto";
import type {
  DeploymentKey,
  PlanVerification,
  ReleaseRequest,
  SourceDigest,
} from "@flotilla/proto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { contentParts } from "@flotilla/shared/content";
import type { Secret } from "@flotilla/shared/kube/objects";
import * as z from "zod";

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
  lost: "flotilla.dev/lost",
  keepsRelease: "flotilla.dev/keep-release",
  request: "flotilla.dev/request",
  sources: "flotilla.dev/sources",
  /** Without its key. */
  verification: "flotilla.dev/verification",
  /** The number of Secrets with the content, this one included. */
  parts: "flotilla.dev/parts",
} as const;
const dataKey = "content";
/** Not beside the others: annotations are in logs and caches. */
const verificationKey = "verification-key";

/** A deployment as the hub last assigned it, installed or not. */
export interface Assignment {
  readonly owner: DeploymentKey;
  readonly deploymentId: string;
  /** Packed. */
  readonly content: Uint8Array;
  readonly paused: boolean;
  /** To be uninstalled. */
  readonly withdrawing: boolean;
  /** Withdrawn after the agent had lost all its Secrets: what was installed must be looked for. */
  readonly lost?: true;
  /** Withdrawn while it was suspended: its release stays installed. */
  readonly keepsRelease?: true;
  /** The last request of a user. */
  readonly request?: ReleaseRequest;
  /** What the first cluster of its Bundle received for a chart whose pin does not say which bytes it means. */
  readonly sources?: readonly SourceDigest[];
  /** What was approved to change with the content; absent: nothing is verified. */
  readonly verification?: PlanVerification;
}

/** Names have at most 253 characters; a longer one ends in a digest instead. */
export function assignmentName(deployment: string): string {
  const name = `assignment-${deployment}`;
  if (name.length <= 253) return name;
  return `${name.slice(0, 236)}-${hex(deployment).slice(0, 16)}`;
}

export function assignmentSecret(assignment: Assignment): Secret {
  const [first = new Uint8Array(), ...others] = contentParts(assignment.content);
  const { verification } = assignment;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: assignmentName(assignment.owner.name),
      labels: { [assignmentLabel]: "true" },
      annotations: {
        [annotations.name]: assignment.owner.name,
        [annotations.uid]: assignment.owner.uid,
        [annotations.deploymentId]: assignment.deploymentId,
        [annotations.paused]: String(assignment.paused),
        [annotations.withdrawing]: String(assignment.withdrawing),
        ...(assignment.lost && { [annotations.lost]: "true" }),
        ...(assignment.keepsRelease && { [annotations.keepsRelease]: "true" }),
        ...(assignment.request && { [annotations.request]: JSON.stringify(assignment.request) }),
        ...(assignment.sources && { [annotations.sources]: JSON.stringify(assignment.sources) }),
        ...(verification && {
          [annotations.verification]: JSON.stringify({
            diff: verification.diff,
            at: verification.at,
          }),
        }),
        ...(others.length > 0 && { [annotations.parts]: String(others.length + 1) }),
      },
    },
    type: "flotilla.dev/assignment",
    data: {
      [dataKey]: base64(first),
      ...(verification && { [verificationKey]: base64(verification.key) }),
    },
  };
}

/** The Secrets that continue the first one. They are written before it, so that the first one implies the others. */
export function partSecrets(assignment: Assignment): readonly Secret[] {
  const [, ...others] = contentParts(assignment.content);
  return others.map((bytes, index) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: partName(assignment.owner.name, assignment.deploymentId, index + 1),
      labels: { [partLabel]: "true" },
      annotations: { [annotations.name]: assignment.owner.name },
    },
    type: "flotilla.dev/assignment-part",
    immutable: true,
    data: { [dataKey]: base64(bytes) },
  }));
}

/** The names of the Secrets that continue the first one, in order. */
export function partNamesOf(first: Secret): readonly string[] {
  const { [annotations.name]: name = "", [annotations.deploymentId]: deploymentId = "" } =
    first.metadata.annotations ?? {};
  const parts = Number(first.metadata.annotations?.[annotations.parts] ?? "1");
  const others = Number.isInteger(parts) && parts > 1 ? parts - 1 : 0;
  return Array.from({ length: others }, (_, index) => partName(name, deploymentId, index + 1));
}

/** Undefined for any other Secret, and if a part is missing or what has to be verified cannot be read. */
export function parseAssignment(
  first: Secret,
  partOf: (name: string) => Secret | undefined = () => undefined,
): Assignment | undefined {
  const found = first.metadata.annotations ?? {};
  const {
    [annotations.name]: name,
    [annotations.uid]: uid,
    [annotations.deploymentId]: deploymentId,
  } = found;
  const parts = [first, ...partNamesOf(first).map(partOf)].map((part) => part?.data?.[dataKey]);
  const texts = parts.filter((text) => text !== undefined);
  const verified = parseVerification(
    found[annotations.verification],
    first.data?.[verificationKey] ?? "",
  );
  if (
    verified === undefined ||
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
    ...(found[annotations.lost] === "true" && { lost: true }),
    ...(found[annotations.keepsRelease] === "true" && { keepsRelease: true }),
    ...parseRequest(found[annotations.request]),
    ...parseSources(found[annotations.sources]),
    ...verified,
  };
}

const verificationSchema = z.object({ diff: z.string().min(1), at: z.string().min(1) });

/** Undefined: it cannot be read, and without it nothing may be installed. */
function parseVerification(
  text: string | undefined,
  key: string,
): Pick<Assignment, "verification"> | undefined {
  if (text === undefined) return {};
  try {
    const { diff, at } = verificationSchema.parse(JSON.parse(text));
    return key === "" ? undefined : { verification: { diff, at, key: Buffer.from(key, "base64") } };
  } catch {
    return undefined;
  }
}

const requestSchema = z.object({
  token: z.string(),
  force: z.boolean(),
  reset: z.boolean(),
  correctDrift: z.literal(true).optional(),
});

/** One that cannot be read is sent again. */
function parseRequest(text: string | undefined): Pick<Assignment, "request"> {
  if (text === undefined) return {};
  try {
    return { request: requestSchema.parse(JSON.parse(text)) };
  } catch {
    return {};
  }
}

const sourcesSchema = z.array(z.object({ pin: z.string(), digest: z.string() }));

/** Digests that cannot be read bind nothing, as when an older hub sends none. */
function parseSources(text: string | undefined): Pick<Assignment, "sources"> {
  if (text === undefined) return {};
  try {
    return { sources: sourcesSchema.parse(JSON.parse(text)) };
  } catch {
    return {};
  }
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
