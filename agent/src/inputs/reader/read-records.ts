/** Releases and manifests, read by readers where that may take long: a YAML text of one MiB takes seconds. */
import { createHash } from "node:crypto";
import { parseExact } from "@flotilla/shared/json";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import {
  chartCrdSchema,
  hookReply,
  type ManifestUse,
  type ManifestUses,
  manifestDigest,
  performRecordTask,
  type ReadLimits,
  type ReadRecords,
  type RecordTask,
  type StoredRelease,
  TooLongError,
} from "../../helm/index.ts";
import type { Readers } from "./readers.ts";

/** What the agent reads itself, in some 20 ms: for most charts that is faster than a reader. */
const short: ReadLimits = { releaseBytes: 1024 * 1024, yamlCharacters: 16 * 1024 };

/** The longest that a Secret may be. Longer ones hold more than the limit in any case, so they need not be decompressed. */
const storedCharacters = 256 * 1024;

const releaseReply = z.object({
  namespace: z.string(),
  name: z.string(),
  revision: z.number(),
  status: z.string(),
  manifest: z.string(),
  content: z.string(),
  tests: z.array(
    z.object({
      name: z.string(),
      phase: z.enum(["Succeeded", "Failed", "Unknown"]).exactOptional(),
      startedAt: z.string().exactOptional(),
      completedAt: z.string().exactOptional(),
    }),
  ),
  hooks: z.array(hookReply),
  chartName: z.string(),
  chartVersion: z.string(),
  appVersion: z.string(),
  deployedAt: z.string().exactOptional(),
  applyMethod: z.string().exactOptional(),
  description: z.string().exactOptional(),
});

const object = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string().exactOptional(),
  name: z.string(),
  isDeletedWhenEnded: z.literal(true).exactOptional(),
  expiresAt: z.string().exactOptional(),
});
const objects = z.array(object);

const manifestReplies: { readonly [Use in ManifestUse]: z.ZodType<ManifestUses[Use]> } = {
  objects,
  exactObjects: objects.nullable(),
  crds: z.array(z.object({ name: z.string(), hasOwnPolicy: z.boolean() })),
  withKeptCrds: z.string(),
  chartCrds: z.array(chartCrdSchema),
  whole: z.array(z.string()),
};

export function createReadRecords(readers: Pick<Readers, "run">): ReadRecords {
  const read = new WeakMap<StoredRelease, Map<ManifestUse, Promise<unknown>>>();

  /** `digest`: of what is read. */
  async function perform(task: RecordTask, what: string, digest: () => string): Promise<unknown> {
    try {
      if (!("stored" in task) || task.stored.length <= storedCharacters)
        return await performRecordTask(task, short);
    } catch (thrown) {
      if (!(thrown instanceof TooLongError)) throw thrown;
    }
    const key = `${task.kind} sha256:${digest()}`;
    return await readers.run({ kind: "record", task }, { key, what: `read ${what}` });
  }

  function manifestOf<U extends ManifestUse>(
    release: StoredRelease,
    use: U,
  ): Promise<ManifestUses[U]> {
    const { namespace, name, manifest } = release;
    const what = `the manifest of release ${namespace}/${name}`;
    return perform({ kind: "manifest", use, manifest }, what, () => manifestDigest(release)).then(
      (value) => manifestReplies[use].parse(value),
    );
  }

  return {
    printed: async (json, what) =>
      releaseReply.parse(
        await perform({ kind: "printed release", json, what }, what, () => sha256(json)),
      ),
    stored: async (stored, what) =>
      releaseReply.parse(
        await perform({ kind: "stored release", stored, what }, what, () => sha256(stored)),
      ),
    async chartValues(stored, what) {
      const task = { kind: "chart values", stored, what } as const;
      const json = z.string().parse(await perform(task, what, () => sha256(stored)));
      return z.record(z.string(), z.unknown()).parse(parseExact(json));
    },
    changed: async (stored, what, change) =>
      z
        .string()
        .parse(
          await perform({ kind: "changed release", stored, what, change }, what, () =>
            sha256(stored),
          ),
        ),
    async chartCrds(rendered, what) {
      const task = { kind: "manifest", use: "chartCrds", manifest: rendered } as const;
      return manifestReplies.chartCrds.parse(await perform(task, what, () => sha256(rendered)));
    },
    async wholeObjects(release) {
      const objects = await manifestOf(release, "whole");
      // The reader leaves out what has not the fields of an object.
      return objects.map((json) => parseExact(json) as KubeObject);
    },
    async withKindChanges(release, changes) {
      const { namespace, name, manifest } = release;
      const task = { kind: "changed kinds", manifest, changes } as const;
      const what = `the manifest of release ${namespace}/${name}`;
      return z.string().parse(await perform(task, what, () => manifestDigest(release)));
    },
    manifest(release, use) {
      const known = read.get(release) ?? new Map<ManifestUse, Promise<unknown>>();
      read.set(release, known);
      // Stored under its use, so it has the type of that.
      const found = known.get(use) as Promise<ManifestUses[typeof use]> | undefined;
      if (found !== undefined) return found;
      const fresh = manifestOf(release, use);
      known.set(use, fresh);
      fresh.catch(() => known.delete(use));
      return fresh;
    },
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
