/** Validation of patches, of which the CRD only checks that they are texts. Pure. */
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { messageOf } from "@flotilla/shared/errors";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";
import type { CheckedTexts } from "./checked-texts.ts";

/** The first patch that kustomize would reject in every cluster; undefined: none. `texts`: the patches of the same object. */
export function postRendererProblem(
  { postRenderers }: BundleDeploymentOptions,
  texts: CheckedTexts,
): string | undefined {
  for (const [index, { kustomize }] of (postRenderers ?? []).entries()) {
    for (const [number, { patch, target }] of (kustomize?.patches ?? []).entries()) {
      const problem = texts.problemOf(patch, target ? patchProblem : untargetedPatchProblem);
      if (problem !== undefined)
        return `postRenderers[${index}].kustomize.patches[${number}].patch ${problem}`;
    }
  }
  return undefined;
}

const operationsSchema = z.array(
  z.looseObject({
    op: z.enum(["add", "remove", "replace", "move", "copy", "test"]),
    path: z.string(),
  }),
);

const objectSchema = z.looseObject({
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1) }),
});

function patchProblem(patch: string): string | undefined {
  return problemOf(patch, true);
}

function untargetedPatchProblem(patch: string): string | undefined {
  return problemOf(patch, false);
}

function problemOf(patch: string, hasTarget: boolean): string | undefined {
  // In block style `---` at the beginning of a line is always a separator.
  const documents = patch.split(/^---.*$/m).filter((each) => each.trim() !== "");
  if (documents.length === 0) return "is empty";
  const values: unknown[] = [];
  for (const document of documents) {
    try {
      values.push(parseHelmYaml(document, { name: "it" }));
    } catch (thrown) {
      return `is neither YAML nor JSON: ${messageOf(thrown)}`;
    }
  }
  const [first] = values;
  if (Array.isArray(first)) return operationsProblem(first, patch, hasTarget);
  if (values.some((value) => !objectSchema.safeParse(value).success))
    return "is not a patch: write a list of JSON patch operations, or a strategic merge patch with kind and metadata.name, also beside a target";
  if (values.length > 1 && hasTarget)
    return "has several objects, which is not possible beside a target: write an entry for each";
  return undefined;
}

function operationsProblem(
  operations: readonly unknown[],
  patch: string,
  hasTarget: boolean,
): string | undefined {
  if (!operationsSchema.safeParse(operations).success)
    return "is not a JSON patch: each operation needs path and op, which is one of add, remove, replace, move, copy and test";
  if (!hasTarget) return "is a JSON patch, which names no object: set a target beside it";
  if (patch.trimStart().startsWith("[") && !isJson(patch))
    return "begins with [ and is not JSON, which kustomize does not read: write JSON, or YAML with a line for each operation";
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
