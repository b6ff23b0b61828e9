/**
 * The objects of a chart, as Helm reads them: of two equal keys the last one counts, aliases are what they stand for, and `yes` is
 * true. Kustomize and the YAML that Helm writes for it would decide otherwise. Pure.
 */
import { canonicalJson } from "@flotilla/shared/json";
import { isChangedByRewriting, parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";

/** On each object that Helm passes on and gets back: in which of the chart's files it belongs. Helm removes it. */
export const fileAnnotation = "postrenderer.helm.sh/postrender-filename";

/** What Helm prints of a release with `--output=json`, as far as it is needed. */
const releaseSchema = z.object({
  manifest: z.string().optional(),
  hooks: z.array(z.object({ path: z.string(), manifest: z.string() })).nullish(),
});

const mapSchema = z.record(z.string(), z.unknown());
const annotatedSchema = z.looseObject({
  metadata: z.looseObject({ annotations: mapSchema.nullish() }),
});
const listSchema = z.object({
  kind: z.string().endsWith("List"),
  metadata: z.object({ annotations: mapSchema.nullish() }).nullish().catch(undefined),
  items: z.array(z.unknown()),
});

/**
 * The objects that Helm passes to a post-renderer. Undefined: Helm has read and written the chart's YAML before, and that may have
 * changed them, so that they have to be taken from a release that Helm has rendered without a post-renderer.
 */
export function objectsOfManifest(manifest: string): readonly unknown[] | undefined {
  const objects: unknown[] = [];
  for (const document of documentsOf(manifest)) {
    if (isChangedByRewriting(document)) return undefined;
    try {
      objects.push(...itemsOf(parseHelmYaml(document, { name: "manifest" })));
    } catch {
      return undefined;
    }
  }
  return objects;
}

/**
 * The objects of a release that Helm has rendered without a post-renderer, with the annotations that Helm would have set for one.
 * Throws YAML_INVALID with the chart's file.
 */
export function objectsOfRelease(release: string): readonly unknown[] {
  const { manifest = "", hooks } = releaseSchema.parse(JSON.parse(release));
  const files = [
    ...filesOf(manifest),
    ...(hooks ?? []).map(({ path, manifest: text }) => ({ path, text })),
  ];
  return files.flatMap(({ path, text }) =>
    itemsOf(parseHelmYaml(text, { name: path })).map((object) => inFile(object, path)),
  );
}

/** The objects that kustomize prints, for its next run. */
export function objectsOfKustomize(manifest: string): readonly unknown[] {
  return documentsOf(manifest).flatMap((document) =>
    itemsOf(parseHelmYaml(document, { name: "what kustomize has made" })),
  );
}

/** `---` at the beginning of a line is always a separator in what Helm passes on: it has written it itself. */
export function documentsOf(manifest: string): readonly string[] {
  return manifest.split(/^---.*\n?/m).filter((document) => document.trim() !== "");
}

/** Helm writes the file before each object. */
function filesOf(manifest: string): readonly { readonly path: string; readonly text: string }[] {
  const [, ...parts] = manifest.split(/^---\n# Source: (.*)\n/m);
  return parts.flatMap((path, at) => (at % 2 === 0 ? [{ path, text: parts[at + 1] ?? "" }] : []));
}

/** The items of a list; where Helm's own annotation names the file of the list, they are in it. */
function itemsOf(value: unknown): readonly unknown[] {
  if (value === null) return [];
  const list = listSchema.safeParse(value).data;
  if (list === undefined) return [value];
  const file = list.metadata?.annotations?.[fileAnnotation];
  const items = list.items.flatMap(itemsOf);
  return typeof file === "string" ? items.map((item) => inFile(item, file)) : items;
}

/** An object without metadata stays as it is: kustomize rejects it. */
function inFile(object: unknown, file: string): unknown {
  const found = annotatedSchema.safeParse(object).data;
  if (found === undefined) return object;
  const annotations = { ...found.metadata.annotations, [fileAnnotation]: file };
  return { ...found, metadata: { ...found.metadata, annotations } };
}

const identitySchema = z.object({
  apiVersion: z.string().optional(),
  kind: z.string(),
  metadata: z.object({ name: z.string().nullish(), namespace: z.string().nullish() }),
});

/** Equal for what kustomize takes for the same object; undefined for what it rejects anyway. */
export function idOf(object: unknown): string | undefined {
  const identity = identitySchema.safeParse(object).data;
  if (identity === undefined) return undefined;
  const { apiVersion = "", kind, metadata } = identity;
  return JSON.stringify([apiVersion, kind, metadata.namespace || "default", metadata.name ?? ""]);
}

/**
 * Throws an Error with the object: kustomize takes this character for the end of a line, in quotes, too, and so changes the text.
 */
export function rejectUnreadable(objects: readonly unknown[]): void {
  for (const object of objects) {
    if (!canonicalJson(object).includes("\u0085")) continue;
    const { kind = "object", metadata } = identitySchema.safeParse(object).data ?? {};
    throw new Error(
      `${kind} ${metadata?.name ?? ""} has the character U+0085 in a text, which kustomize would replace; remove it from the chart or its values`,
    );
  }
}
