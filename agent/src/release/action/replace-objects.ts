/**
 * Deletes objects that the API server refuses to change, one by one, as the account of the deployment: `force`. Helm's own
 * replacement is an update, which is refused as well. The next run of Helm creates them: who may write the record of the
 * failed run in the cluster may change it before it is read, and would have the agent create an object of theirs.
 */
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  type ImmutableRefusal,
  isMarked,
  type ReadRecords,
  type ReleaseRecord,
  type StoredReleases,
} from "../../helm/index.ts";
import {
  checkCreation,
  createDiscovery,
  deleteObject,
  desiredObject,
  propagationOf,
} from "../../observe/index.ts";
import type { Attempts, Inventory } from "../../state/index.ts";
import { isUnchanged } from "./in-sync.ts";
import { planReplacement, type Replacement } from "./replacement-plan.ts";
import type { RevisionInputs } from "./revision.ts";

export interface ReplaceDeps {
  readonly stored: Pick<StoredReleases, "read">;
  readonly records: Pick<ReadRecords, "wholeObjects">;
  readonly inventory: Pick<Inventory, "revisionOf">;
  readonly attempts: Pick<Attempts, "refusedOf" | "setRefused">;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RefusedRun {
  /** The record of the failed run. */
  readonly record: ReleaseRecord;
  readonly digest: string;
  readonly refusals: readonly ImmutableRefusal[];
  readonly signal: AbortSignal;
}

/** The release, and the client of its account. */
interface Replacing extends Pick<RevisionInputs, "desired"> {
  readonly client: Pick<ImpersonatedClient, "rest">;
}

/** For the deletion of an object with finalizers, or with pods that the new one is to take over. */
const deletionLimitMs = 30_000;

/** Undefined: they are deleted, and Helm creates them. Otherwise why not, as the end of a sentence. */
export async function replaceObjects(
  deps: ReplaceDeps,
  { desired, client }: Replacing,
  { record, digest, refusals, signal }: RefusedRun,
): Promise<string | undefined> {
  const { inventory, attempts, stored, records, log } = deps;
  const { id, name: deployment } = desired.owner;
  const replacedOf = () => {
    const known = attempts.refusedOf(id);
    return known?.digest === digest ? known : undefined;
  };
  if (!(await isUnchanged({ stored, inventory }, record)))
    return "somebody has changed the record of the failed revision, so nothing was deleted";
  const documents = await records.wholeObjects(await stored.read(record));
  const plan = planReplacement(refusals, documents, replacedOf()?.replaced ?? []);
  if (plan.kind === "keep") return plan.why;
  const access = { rest: client.rest, release: desired, clock: deps.clock, signal };
  const found: Found[] = [];
  // All are checked before the first one is deleted.
  for (const object of plan.objects) {
    const checked = await find(access, object);
    if (typeof checked === "string") return checked;
    if (checked !== undefined) found.push(checked);
  }
  for (const object of found) {
    const before = replacedOf();
    const replaced = [...(before?.replaced ?? []), object.text];
    await attempts.setRefused(id, { ...before, digest, replaced });
    const why = await remove(access, object);
    log.info({ deployment, object: object.text, field: object.refusal.field }, "object replaced");
    if (why !== undefined) return why;
  }
  return undefined;
}

interface Access {
  readonly rest: KubeRest;
  readonly release: RevisionInputs["desired"];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface Found extends Replacement {
  readonly resource: Resource<KubeObject>;
  readonly live: KubeObject;
}

/** Undefined: it is gone already. A text: why it is not deleted. */
async function find(access: Access, object: Replacement): Promise<Found | string | undefined> {
  const { rest, release, signal } = access;
  const { document, text } = object;
  const { apiVersion = "", kind = "", metadata } = document;
  const discovered = await createDiscovery(rest).find(apiVersion, kind, signal);
  if (discovered.kind === "not found") return `${text} cannot be deleted: ${discovered.why}`;
  const { resource } = discovered;
  const namespace = resource.namespaced ? metadata.namespace || release.namespace : undefined;
  const desired = desiredObject(document, namespace, release);
  try {
    const live = await rest.get(resource, desired.metadata, { signal });
    if (live === undefined) return undefined;
    if (!isMarked(live, release)) return `${text} does not belong to the release`;
    await checkCreation(rest, resource, desired, signal);
    return { ...object, resource, live };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return `${text} was not deleted, because it could not be created again: ${failureOf(kind, thrown)}`;
  }
}

async function remove(
  { rest, clock, signal }: Access,
  { resource, live, text, refusal }: Found,
): Promise<string | undefined> {
  try {
    const isGone = await deleteObject(
      rest,
      {
        resource,
        live,
        propagation: propagationOf(refusal.object.kind),
        wait: { clock, limitMs: deletionLimitMs },
      },
      signal,
    );
    return isGone ? undefined : `${text} is being deleted, and finalizers keep it`;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return `${text} could not be deleted: ${failureOf(refusal.object.kind, thrown)}`;
  }
}

/** Sentences of the API server have values, which are secret in a Secret. */
function failureOf(kind: string, thrown: unknown): string {
  return kind === "Secret"
    ? `the API server rejects it (${AppError.from(thrown).code})`
    : messageOf(thrown);
}
