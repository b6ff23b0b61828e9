/**
 * Manifests as kustomize can read them. It rejects two objects of the same kind and name, which charts have for hooks of
 * different times, and objects with `generateName`. Pure.
 */
import { parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";
import { headOf } from "../record/index.ts";
import type { Kustomization } from "./kustomization.ts";

/** Objects of which no two have the same kind and name. */
export interface Batch {
  readonly manifest: string;
  readonly ids: ReadonlySet<string>;
}

/** All objects in their order; those that kustomize would reject as duplicates are in further batches. */
export function toBatches(manifest: string): readonly Batch[] {
  const batches: { readonly documents: string[]; readonly ids: Set<string> }[] = [];
  for (const document of documentsOf(manifest)) {
    const id = idOf(document);
    let batch = batches.find(({ ids }) => id === undefined || !ids.has(id));
    if (batch === undefined) {
      batch = { documents: [], ids: new Set() };
      batches.push(batch);
    }
    batch.documents.push(document);
    if (id !== undefined) batch.ids.add(id);
  }
  return batches.map(({ documents, ids }) => ({ manifest: joinDocuments(documents), ids }));
}

/**
 * The kustomization for one of several batches. A patch without a target is an error where its object is missing, so that each
 * batch gets those of its own objects, and the first also those that match nothing.
 */
export function kustomizationOf(
  kustomization: Kustomization,
  batches: readonly Batch[],
  at: number,
): Kustomization {
  const { patches } = kustomization;
  if (patches === undefined || batches.length === 1) return kustomization;
  const own = batches[at]?.ids ?? new Set();
  const isHere = (document: string): boolean => {
    const id = idOf(document);
    if (id !== undefined && own.has(id)) return true;
    return at === 0 && !batches.some(({ ids }) => id !== undefined && ids.has(id));
  };
  return {
    ...kustomization,
    patches: patches.flatMap((each) =>
      each.target === undefined
        ? documentsOf(each.patch)
            .filter(isHere)
            .map((patch) => ({ ...each, patch }))
        : [each],
    ),
  };
}

/** One manifest of several. */
export function joinDocuments(parts: readonly string[]): string {
  return parts
    .filter((part) => part.trim() !== "")
    .map((part) => (part.endsWith("\n") ? part : `${part}\n`))
    .join("---\n");
}

/** Gives each object with `generateName` a name that begins with `marker`. In the styles that Helm writes. */
export function withNames(manifest: string, marker: string): string {
  if (!manifest.includes("generateName:")) return manifest;
  const documents = documentsOf(manifest).map((document, number) => {
    const metadata = identitySchema.safeParse(readHead(document)).data?.metadata;
    return metadata?.generateName === undefined || metadata.name
      ? document
      : document.replace(/^metadata:(\n {2}| \{)/m, (start) =>
          start.endsWith("{")
            ? `${start}name: ${marker}${number}, `
            : `${start}name: ${marker}${number}\n  `,
        );
  });
  return joinDocuments(documents);
}

/** Removes these names, as kustomize writes them. */
export function withoutNames(manifest: string, marker: string): string {
  return manifest.replaceAll(new RegExp(`^  name: ${marker}\\d+\n`, "gm"), "");
}

const identitySchema = z.object({
  apiVersion: z.string().optional(),
  kind: z.string(),
  metadata: z.object({
    name: z.string().nullish(),
    generateName: z.string().optional(),
    namespace: z.string().nullish(),
  }),
});

/** Equal for what kustomize takes for the same object; undefined for what it rejects anyway. */
function idOf(document: string): string | undefined {
  const identity = identitySchema.safeParse(readHead(document)).data;
  if (identity === undefined) return undefined;
  const { apiVersion = "", kind, metadata } = identity;
  return JSON.stringify([apiVersion, kind, metadata.namespace || "default", metadata.name ?? ""]);
}

function readHead(document: string): unknown {
  const head = headOf(document);
  try {
    // A document in flow style has no such lines.
    return parseHelmYaml(head === "" ? document : head, { name: "manifest" });
  } catch {
    return undefined;
  }
}

/** `---` at the beginning of a line is always a separator in what Helm passes on: it has written it itself. */
function documentsOf(manifest: string): readonly string[] {
  return manifest.split(/^---.*\n?/m).filter((document) => document.trim() !== "");
}
