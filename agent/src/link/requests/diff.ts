/** The objects of a release as they are, against its stored manifest's as the API server would apply them. */
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectRef,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";
import type { ReadRecords } from "../../helm/index.ts";
import { objectDiff } from "../../observe/index.ts";
import type { AnswerSink } from "./open-requests.ts";
import {
  type FindResource,
  mayRead,
  type RequestedRelease,
  readableObjects,
  readNewest,
  type StoredDeps,
} from "./requested-release.ts";

export interface DiffDeps extends StoredDeps {
  readonly records: Pick<ReadRecords, "stored" | "wholeObjects">;
  readonly findResource: FindResource;
}

/** Nothing is written as this manager: a dry run as Helm would show what Helm no longer has in the manifest as a difference. */
const fieldManager = "flotilla-diff";

/** Nothing is written for objects that do not differ. Throws REQUEST_FAILED if no object can be compared. */
export async function writeDiff(
  deps: DiffDeps,
  release: RequestedRelease,
  { write, signal }: AnswerSink,
): Promise<void> {
  const found = await readNewest(deps, release, signal);
  const objects = await deps.records.wholeObjects(found.release);
  let failures = 0;
  let compared = 0;
  for (const object of objects) {
    const { apiVersion = "", kind = "", metadata } = object;
    const { name } = metadata;
    const resource = await deps.findResource(apiVersion, kind, signal);
    if (typeof resource === "string") {
      failures += 1;
      await write(`# ${apiVersion} ${kind} ${name}: cannot be compared: ${resource}\n`);
      continue;
    }
    const namespace = metadata.namespace || release.namespace;
    if (!mayRead(found, resource) || readableObjects(found, [{ namespace }]).length === 0) continue;
    const ref = resource.namespaced ? { namespace, name } : { name };
    const title = `${apiVersion} ${kind} ${keyOf(ref)}`;
    try {
      const [live, desired] = await liveAndDesired(release, { object, resource, ref }, signal);
      compared += 1;
      const diff = objectDiff(title, live, desired);
      if (diff !== "") await write(diff);
    } catch (thrown) {
      if (!(thrown instanceof KubeStatusError)) throw thrown;
      failures += 1;
      await write(`# ${title}: cannot be compared: ${thrown.serverMessage}\n`);
    }
  }
  if (compared === 0 && failures > 0)
    throw new AppError(
      agentErrors.REQUEST_FAILED,
      `no object of release ${release.namespace}/${release.name} can be compared as ${release.subject}`,
    );
}

interface Compared {
  readonly object: KubeObject;
  readonly resource: Resource<KubeObject>;
  readonly ref: ObjectRef;
}

type Json = Readonly<Record<string, unknown>>;

async function liveAndDesired(
  { rest }: RequestedRelease,
  { object, resource, ref }: Compared,
  signal: AbortSignal,
): Promise<readonly [live: Json | undefined, desired: Json]> {
  const live = await rest.get(resource, ref, { signal });
  if (live === undefined) return [undefined, { ...object }];
  const desired = await rest.patch(
    resource,
    ref,
    { type: "apply", body: object, force: true },
    { dryRun: true, fieldManager, signal },
  );
  return [{ ...live }, { ...desired }];
}
