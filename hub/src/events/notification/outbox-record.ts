/** What an outbox holds, and how a change alters it. Pure. */
import { createHash } from "node:crypto";
import type { KubeObject, ObjectKey, Secret } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import type { FluxEvent } from "./event.ts";

/** An event that an Alert selected and its Provider has not taken yet. */
export interface OutboxEntry {
  readonly id: string;
  /** The Alert. */
  readonly alert: ObjectKey;
  readonly event: FluxEvent;
}

export interface OutboxChange {
  readonly add: readonly OutboxEntry[];
  readonly remove: ReadonlySet<string>;
}

export interface OutboxLimits {
  readonly entries: number;
  readonly bytes: number;
}

export const outboxLabel = "flotilla.dev/notification-outbox";
const outboxType = "flotilla.dev/notification-outbox";
const providerAnnotation = "flotilla.dev/provider";
const dataKey = "events";

const eventSchema = z.object({
  involvedObject: z.object({
    apiVersion: z.string(),
    kind: z.string(),
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
  }),
  severity: z.enum(["info", "error"]),
  timestamp: z.string(),
  message: z.string(),
  reason: z.string(),
  metadata: z.record(z.string(), z.string()).exactOptional(),
  reportingController: z.string(),
  reportingInstance: z.string(),
});

const entriesSchema = z.array(z.object({ id: z.string(), alert: z.string(), event: eventSchema }));

export function outboxName(provider: ObjectKey): string {
  const digest = createHash("sha256").update(provider).digest("hex").slice(0, 16);
  return `flotilla-notifications-${digest}`;
}

/** The Provider whose outbox a Secret is. */
export function providerOf({ metadata }: KubeObject): ObjectKey {
  return metadata.annotations?.[providerAnnotation] ?? "";
}

/** Oldest first; none where somebody has changed it to something else. */
export function entriesOf(secret: Secret | undefined): readonly OutboxEntry[] {
  const text = Buffer.from(secret?.data?.[dataKey] ?? "", "base64").toString();
  if (text === "") return [];
  try {
    return entriesSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

export function outboxSecret(
  { namespace, provider }: { readonly namespace: string; readonly provider: ObjectKey },
  entries: readonly OutboxEntry[],
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: outboxName(provider),
      namespace,
      labels: { [outboxLabel]: "true" },
      annotations: { [providerAnnotation]: provider },
    },
    type: outboxType,
    data: { [dataKey]: Buffer.from(JSON.stringify(entries)).toString("base64") },
  };
}

/** Beyond a limit the oldest are dropped. */
export function changeEntries(
  before: readonly OutboxEntry[],
  { add, remove }: OutboxChange,
  limits: OutboxLimits,
): { readonly entries: readonly OutboxEntry[]; readonly dropped: readonly OutboxEntry[] } {
  const known = new Set(before.map(({ id }) => id));
  const all = [...before, ...add.filter(({ id }) => !known.has(id))].filter(
    ({ id }) => !remove.has(id),
  );
  let kept = 0;
  let bytes = 0;
  for (const entry of all.toReversed()) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (kept === limits.entries || bytes > limits.bytes) break;
    kept += 1;
  }
  const from = all.length - kept;
  return { entries: all.slice(from), dropped: all.slice(0, from) };
}
