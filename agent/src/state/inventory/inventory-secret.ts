/**
 * The form of the inventory: one Secret in the agent's namespace for each deployment, with an HMAC by a key that only the
 * agent has. Pure.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { canonicalJson } from "@flotilla/shared/json";
import type { Secret } from "@flotilla/shared/kube/objects";
import * as z from "zod";

const inventoryLabel = "flotilla.dev/inventory";
export const inventorySelector = `${inventoryLabel}=true`;
export const inventoryKeyName = "flotilla-inventory-key";

const testSchema = z.object({
  name: z.string(),
  phase: z.enum(["Succeeded", "Failed", "Unknown"]),
  /** RFC 3339. */
  startedAt: z.string().optional(),
  completedAt: z.string().optional(),
});

/** The result of a test of a chart. */
export type InventoryTest = Readonly<z.infer<typeof testSchema>>;

/** Why server-side apply refused a release, which is applied client-side since. */
const clientSideSchema = z.object({
  reason: z.enum([
    "DuplicateKey",
    "UnknownField",
    "GenerateName",
    "ServerField",
    "Defaulted",
    "ControllerField",
  ]),
  /** `Deployment shop/web`. */
  object: z.string(),
  field: z.string(),
});

/** How a revision was applied that is not as usual. */
const applyNotesSchema = z.object({
  clientSide: clientSideSchema.optional(),
  /** Helm could not replace its objects as a whole, as `force` asks for, and patches them. */
  patched: z.boolean().optional(),
  /** Objects that could not be changed, and were deleted and created again. */
  replaced: z.array(z.string()).optional(),
  /** Fields that a run which a user has requested took from other managers, as far as they were known. */
  taken: z.array(z.string()).optional(),
});

export type ApplyNotes = Readonly<z.infer<typeof applyNotesSchema>>;

/** Why and from what a revision was made. */
const madeFromFields = {
  /** The parts of the release digest; absent for a revision of an agent before 0.4.0. */
  parts: z.record(z.string(), z.string()).optional(),
  /** Why it was made: see ReleaseReason. */
  reasons: z.array(z.string()).optional(),
};

const revisionSchema = z.object({
  revision: z.number().int(),
  /** Digest of the manifest and the hooks of Helm's record. */
  content: z.string(),
  /**
   * Helm has printed nothing of it, so its content is what the record had when the agent read it: a tenant may have changed the
   * record by then (docs/adr/0050). Absent where the content is from a revision that Helm has printed.
   */
  fromRecord: z.literal(true).optional(),
  /** The release digest; absent for a revision that Helm created to roll back, or that somebody has changed. */
  digest: z.string().optional(),
  origin: z.string().optional(),
  chartDigest: z.string().optional(),
  ...madeFromFields,
  /** The rest is absent for a revision of an agent before 0.3.0. */
  action: z.enum(["install", "upgrade", "rollback"]).optional(),
  chartName: z.string().optional(),
  chartVersion: z.string().optional(),
  appVersion: z.string().optional(),
  /** When Helm had created it, ms since 1970. */
  createdAtMs: z.number().optional(),
  notes: applyNotesSchema.optional(),
  /** The results of its tests, by name; absent: they have not run. */
  tests: z.array(testSchema).optional(),
});

/** See UninstallFlags. */
const uninstallFlagsSchema = z.object({
  waitSeconds: z.number().optional(),
  timeoutSeconds: z.number().optional(),
  withoutHooks: z.boolean().optional(),
  keepsHistory: z.boolean().optional(),
  cascade: z.enum(["background", "foreground", "orphan"]).optional(),
});

const releaseSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  /** The UID of the deployment that it was installed for. */
  uid: z.string(),
  revisions: z.array(revisionSchema),
  /** How it is uninstalled if its assignment is lost. */
  deploymentId: z.string(),
  serviceAccount: z.string().optional(),
  keepResources: z.boolean(),
  deleteCRDResources: z.boolean(),
  deleteNamespace: z.boolean().optional(),
  uninstallFlags: uninstallFlagsSchema.optional(),
});

const runSchema = z.object({
  namespace: z.string(),
  release: z.string(),
  revision: z.number().int(),
  /** Helm creates another revision when it fails, to roll back. */
  rollsBack: z.boolean(),
  /** The digest of the release that it installs, as in a revision. */
  digest: z.string(),
  origin: z.string().optional(),
  chartDigest: z.string(),
  ...madeFromFields,
  /** Until its objects must be ready; absent: Helm itself waits, or nothing does. */
  readyUntilMs: z.number().optional(),
  /** The notes of the revision, once it is deployed. */
  notes: applyNotesSchema.optional(),
  /** Objects are patched by the client, so lists may have to be repaired afterwards. */
  isClientSide: z.boolean().optional(),
  /** It rolls back to this revision, so Helm copies the labels of that. */
  target: z.number().int().optional(),
  /** The token of the request of a user to upgrade that it is for; absent once Helm has ended. */
  request: z.string().optional(),
});

/** The attempts at one content that have failed in a row. */
const failedAttemptsSchema = z.object({
  deploymentId: z.string(),
  /** The release digest. */
  digest: z.string(),
  action: z.enum(["install", "upgrade"]),
  /** How many have changed the release; 0 if none has. */
  count: z.number().int(),
  /** The same by action; absent in inventories of agents before 0.4.0, where all were of `action`. */
  counts: z.object({ install: z.number().int(), upgrade: z.number().int() }).optional(),
  /** The reason of the last one. */
  reason: z.enum([fluxReason.installFailed, fluxReason.upgradeFailed, fluxReason.testFailed]),
  message: z.string(),
  /** The code of the error. */
  code: z.string(),
  /** What the last one has left was rolled back or uninstalled; with an error if that failed. `more`: the end of its message. */
  remediation: z
    .object({
      by: z.enum(["rollback", "uninstall"]),
      error: z.string().optional(),
      more: z.string().optional(),
    })
    .optional(),
});

const hookSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  events: z.array(z.string()),
  weight: z.number(),
  deletePolicies: z.array(z.string()),
  phase: z.enum(["Succeeded", "Failed", "Running", "Unknown"]).optional(),
});

/** What a run of Helm that takes long, or that has failed, has to do. */
const attemptSchema = z.object({
  namespace: z.string(),
  release: z.string(),
  revision: z.number().int(),
  /** As in a revision. */
  content: z.string(),
  /** The hooks of its record, which may be deleted. */
  hooks: z.array(hookSchema),
});

/** What the API server has refused of the release of a digest, and what was done about it. */
const refusedSchema = applyNotesSchema.extend({ digest: z.string() });

export type Refused = Readonly<z.infer<typeof refusedSchema>>;

const deadlineSchema = z.object({
  namespace: z.string(),
  release: z.string(),
  revision: z.number().int(),
  untilMs: z.number(),
  isRollback: z.boolean(),
});

const objectSchema = z.object({
  kind: z.enum(["Secret", "ConfigMap"]),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
});

/** See RequestResult of the contract with the hub. */
const requestResultSchema = z.object({
  result: z.string(),
  objects: z.number().int().optional(),
  revision: z.number().int().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});

/** A request of a user that was accepted. */
const requestSchema = z.object({
  token: z.string(),
  /** The newest revision of the agent then, as `namespace/name:revision`; absent: there was none. */
  before: z.string().optional(),
  /** Absent: it is not finished. */
  result: requestResultSchema.optional(),
});

export type InventoryRequest = Readonly<z.infer<typeof requestSchema>>;

const documentSchema = z.object({
  deployment: z.string(),
  /** The UID of the deployment that the agent has begun to install. It stays until the withdrawal, whatever happens to the releases. */
  uid: z.string().optional(),
  releases: z.array(releaseSchema),
  /** Downstream resources. */
  objects: z.array(objectSchema),
  /** Those that the agent created for its releases. */
  namespaces: z
    .array(z.object({ name: z.string(), uid: z.string(), isMarked: z.boolean().optional() }))
    .optional(),
  /** `forceSyncGeneration` when a release was stopped; another one forces it. */
  stoppedAt: z.number().int().optional(),
  /** From before Helm starts until its result is entered. */
  run: runSchema.optional(),
  /** Until the content is in sync, or another one is desired. */
  failedAttempts: failedAttemptsSchema.optional(),
  /** From a few seconds after its beginning; until a revision is deployed, or is in sync. */
  attempt: attemptSchema.optional(),
  /** Until that release is deployed. */
  refused: refusedSchema.optional(),
  /** Until the objects of the revision must be ready. */
  deadline: deadlineSchema.optional(),
  /** `at` of the verification that the first change for the content has passed. */
  verifiedAt: z.string().optional(),
  /** The token of the request that was handled last. */
  handledRequest: z.string().optional(),
  /** The request that was accepted last. */
  request: requestSchema.optional(),
});

/** A revision that the agent created. */
export type InventoryRevision = Readonly<z.infer<typeof revisionSchema>>;
/** A release that the agent installed. */
export type InventoryRelease = Readonly<Omit<z.infer<typeof releaseSchema>, "revisions">> & {
  readonly revisions: readonly InventoryRevision[];
};
/** A downstream resource that the agent created. */
export type InventoryObject = Readonly<z.infer<typeof objectSchema>>;

/** A namespace that the agent created. */
export interface InventoryNamespace {
  readonly name: string;
  readonly uid: string;
  /** It has Helm's marks of the release, or cannot get them; absent in namespaces of agents before 0.4.0. */
  readonly isMarked?: boolean | undefined;
}

/** An install or upgrade by Helm that may be in progress, or was interrupted. */
export type InventoryRun = Readonly<z.infer<typeof runSchema>>;

export type FailedAttempts = Readonly<z.infer<typeof failedAttemptsSchema>>;
export type InventoryAttempt = Readonly<z.infer<typeof attemptSchema>>;
export type InventoryHook = Readonly<z.infer<typeof hookSchema>>;
export type InventoryDeadline = Readonly<z.infer<typeof deadlineSchema>>;

/** What the agent installed for one deployment. */
export interface InventoryDocument {
  readonly deployment: string;
  readonly uid?: string | undefined;
  readonly releases: readonly InventoryRelease[];
  readonly objects: readonly InventoryObject[];
  readonly namespaces?: readonly InventoryNamespace[] | undefined;
  readonly stoppedAt?: number | undefined;
  readonly run?: InventoryRun | undefined;
  readonly failedAttempts?: FailedAttempts | undefined;
  readonly attempt?: InventoryAttempt | undefined;
  readonly refused?: Refused | undefined;
  readonly deadline?: InventoryDeadline | undefined;
  readonly verifiedAt?: string | undefined;
  readonly handledRequest?: string | undefined;
  readonly request?: InventoryRequest | undefined;
}

export function inventoryName(deployment: string): string {
  return `inventory-${createHash("sha256").update(deployment).digest("hex").slice(0, 40)}`;
}

export function inventorySecret(document: InventoryDocument, key: Uint8Array): Secret {
  const json = canonicalJson(document);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: inventoryName(document.deployment),
      labels: { [inventoryLabel]: "true" },
      annotations: { "flotilla.dev/deployment": document.deployment },
    },
    type: "flotilla.dev/inventory",
    data: {
      inventory: Buffer.from(json).toString("base64"),
      signature: signatureOf(json, key).toString("base64"),
    },
  };
}

/** Undefined if it was not signed with the key, or has another name than its deployment gives. */
export function parseInventory(secret: Secret, key: Uint8Array): InventoryDocument | undefined {
  const json = Buffer.from(secret.data?.["inventory"] ?? "", "base64").toString();
  const found = Buffer.from(secret.data?.["signature"] ?? "", "base64");
  const signature = signatureOf(json, key);
  if (found.length !== signature.length || !timingSafeEqual(found, signature)) return undefined;
  const parsed = documentSchema.safeParse(JSON.parse(json));
  if (!parsed.success || inventoryName(parsed.data.deployment) !== secret.metadata.name)
    return undefined;
  return parsed.data;
}

function signatureOf(json: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(json).digest();
}
