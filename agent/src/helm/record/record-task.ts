/** What is read and changed in releases and manifests. Tenants can write them, so a reader does it where it may take long. Pure. */
import type { CustomResourceDefinition } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { chartCrds } from "./chart-crds.ts";
import { crdsOf, type ReleasedCrd, withKeptCrds } from "./crd-documents.ts";
import { kindChange, withKindChanges } from "./kind-changes.ts";
import {
  exactObjects,
  type OwnedObject,
  ownedObjects,
  type ReadYamlDocument,
  readYamlDocument,
  wholeObjects,
} from "./manifest.ts";
import {
  changedRelease,
  chartValues,
  maxReleaseBytes,
  parseRelease,
  releaseChange,
  unpackRelease,
  unreadable,
} from "./stored-release.ts";

const manifestUses = [
  "objects",
  "exactObjects",
  "crds",
  "withKeptCrds",
  "chartCrds",
  "whole",
] as const;

export const recordTask = z.discriminatedUnion("kind", [
  /** `json`: as Helm prints it. `what` is read, for messages. */
  z.object({ kind: z.literal("printed release"), json: z.string(), what: z.string() }),
  /** `stored`: see `unpackRelease`. */
  z.object({ kind: z.literal("stored release"), stored: z.string(), what: z.string() }),
  z.object({ kind: z.literal("chart values"), stored: z.string(), what: z.string() }),
  z.object({
    kind: z.literal("changed release"),
    stored: z.string(),
    what: z.string(),
    change: releaseChange,
  }),
  z.object({ kind: z.literal("manifest"), use: z.enum(manifestUses), manifest: z.string() }),
  z.object({
    kind: z.literal("changed kinds"),
    manifest: z.string(),
    changes: z.array(kindChange).readonly(),
  }),
]);
export type RecordTask = Readonly<z.infer<typeof recordTask>>;

/** What a manifest is read for, and the result. */
export interface ManifestUses {
  readonly objects: readonly OwnedObject[];
  /** Null: Helm may read a part of it differently. */
  readonly exactObjects: readonly OwnedObject[] | null;
  readonly crds: readonly ReleasedCrd[];
  readonly withKeptCrds: string;
  /** The definitions in a rendered chart, instead of a release. */
  readonly chartCrds: readonly CustomResourceDefinition[];
  /** The objects with all their fields, as JSON. */
  readonly whole: readonly string[];
}
export type ManifestUse = keyof ManifestUses;

/** How much may be read. A task that exceeds it throws a TooLongError. */
export interface ReadLimits {
  /** The limit of a release as JSON. */
  readonly releaseBytes: number;
  /** The limit of YAML that is parsed, with a part for each document. */
  readonly yamlCharacters: number;
}

/** Within a reader, whose process is limited. */
const unlimited: ReadLimits = {
  releaseBytes: maxReleaseBytes,
  yamlCharacters: Number.POSITIVE_INFINITY,
};

/** It has to be read by a reader. */
export class TooLongError extends Error {
  override readonly name = "TooLongError";
}

/** Throws RELEASE_UNREADABLE and CRDS_NOT_KEPT. */
export async function performRecordTask(
  task: RecordTask,
  limits: ReadLimits = unlimited,
): Promise<unknown> {
  switch (task.kind) {
    case "printed release":
      if (task.json.length > limits.releaseBytes) throw tooLong(task.what, limits);
      return parseRelease(task.json, task.what);
    case "stored release":
      return parseRelease(await unpacked(task, limits), task.what);
    case "chart values":
      return chartValues(await unpacked(task, limits), task.what);
    case "changed release":
      return await changedRelease(await unpacked(task, limits), task.what, {
        ...task.change,
        read: limitedRead(limits.yamlCharacters),
      });
    case "manifest":
      return readManifest(task.use, task.manifest, limits);
    case "changed kinds":
      return withKindChanges(task.manifest, task.changes, limitedRead(limits.yamlCharacters));
  }
}

async function unpacked(
  { stored, what }: { readonly stored: string; readonly what: string },
  limits: ReadLimits,
): Promise<string> {
  const json = await unpackRelease(stored, what, limits.releaseBytes);
  if (json === undefined) throw tooLong(what, limits);
  return json;
}

function tooLong(what: string, { releaseBytes }: ReadLimits): Error {
  return releaseBytes < maxReleaseBytes
    ? new TooLongError()
    : unreadable(what, `it has more than ${maxReleaseBytes / 1024 / 1024} MiB`);
}

function readManifest<U extends ManifestUse>(
  use: U,
  manifest: string,
  { yamlCharacters }: ReadLimits,
): ManifestUses[U] {
  const read = limitedRead(yamlCharacters);
  const uses: { readonly [Use in ManifestUse]: () => ManifestUses[Use] } = {
    objects: () => ownedObjects(manifest, read),
    exactObjects: () => exactObjects(manifest, read) ?? null,
    crds: () => crdsOf(manifest, read),
    withKeptCrds: () => withKeptCrds(manifest, read),
    chartCrds: () => chartCrds(manifest, read),
    whole: () => wholeObjects(manifest, read),
  };
  return uses[use]();
}

/** A document costs as much as this many characters, however short it is. */
const documentCharacters = 32;

function limitedRead(characters: number): ReadYamlDocument {
  let left = characters;
  return (yaml) => {
    left -= yaml.length + documentCharacters;
    if (left < 0) throw new TooLongError();
    return readYamlDocument(yaml);
  };
}
