/**
 * The objects that kustomize gets in one run. It rejects two of the same kind and name, which charts have for hooks of different
 * times. Pure.
 */
import { parseHelmYaml, toHelmJson } from "@flotilla/shared/yaml";
import type { Kustomization } from "./kustomization.ts";
import { documentsOf, idOf } from "./objects.ts";

/** Objects of which no two have the same kind and name. */
export interface Batch {
  readonly manifest: string;
  readonly ids: ReadonlySet<string>;
}

/** All objects in their order; those that kustomize would reject as duplicates are in further batches. */
export function toBatches(objects: readonly unknown[]): readonly Batch[] {
  const batches: { readonly documents: string[]; readonly ids: Set<string> }[] = [];
  for (const object of objects) {
    const id = idOf(object);
    let batch = batches.find(({ ids }) => id === undefined || !ids.has(id));
    if (batch === undefined) {
      batch = { documents: [], ids: new Set() };
      batches.push(batch);
    }
    // JSON is YAML that every parser reads as the same.
    batch.documents.push(toHelmJson(object));
    if (id !== undefined) batch.ids.add(id);
  }
  return batches.map(({ documents, ids }) => ({ manifest: joinDocuments(documents), ids }));
}

/**
 * The kustomization for one of several batches. A patch without a target is an error where its object is missing, so that each
 * batch gets the patches of its own objects, and the first also patches that match nothing.
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
    const id = idOfPatch(document);
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

/** Undefined for what is not a patch: kustomize says why. */
function idOfPatch(document: string): string | undefined {
  try {
    return idOf(parseHelmYaml(document, { name: "patch" }));
  } catch {
    return undefined;
  }
}
