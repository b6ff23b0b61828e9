/** The objects of a release as they are, against those of its stored manifest as the API server would apply them. */
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../errors/index.ts";
import type { ReadRecords } from "../record/index.ts";
import { objectDiff } from "./object-diff.ts";
import type { AnswerSink } from "./open-requests.ts";
import {
  type FindResource,
  type RequestedRelease,
  readNewest,
  type StoredDeps,
} from "./requested-release.ts";

export interface DiffDeps extends StoredDeps {
  readonly records: Pick<ReadRecords, "stored" | "wholeObjects">;
  readonly findResource: FindResource;
}

/** Of no writer: a dry run as Helm would show what Helm no longer has in the manifest as a difference. */
const fieldManager = "flotilla-diff";

/** Nothing is written for objects that do not differ. Throws REQUEST_FAILED if no object can be compared. */
export async function writeDiff(
  deps: DiffDeps,
  release: RequestedRelease,
  { write, signal }: AnswerSink,
): Promise<void> {
  const stored = await readNewest(deps, release, signal);
  const objects = await deps.records.wholeObjects(stored);
  let failures = 0;
  let compared = 0;
  for (const object of objects) {
    const { apiVersion = "", kind = "", metadata } = object;
    const namespace = metadata.namespace || release.namespace;
    const title = `${apiVersion} ${kind} ${namespace}/${metadata.name}`;
    try {
      const diff = await diffOf(deps, release, { object, namespace, title }, signal);
      compared += 1;
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

async function diffOf(
  { findResource }: DiffDeps,
  { rest }: RequestedRelease,
  {
    object,
    namespace,
    title,
  }: {
    readonly object: KubeObject;
    readonly namespace: string;
    readonly title: string;
  },
  signal: AbortSignal,
): Promise<string> {
  const { apiVersion = "", kind = "", metadata } = object;
  const resource = await findResource(apiVersion, kind, signal);
  if (typeof resource === "string") return `# ${title}: cannot be compared: ${resource}\n`;
  const ref = resource.namespaced ? { namespace, name: metadata.name } : { name: metadata.name };
  const live = await rest.get(resource, ref, { signal });
  const desired =
    live === undefined
      ? object
      : await rest.patch(
          resource,
          ref,
          { type: "apply", body: object, force: true },
          { dryRun: true, fieldManager, signal },
        );
  return objectDiff(title, live && { ...live }, { ...desired });
}
