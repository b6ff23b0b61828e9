/**
 * What kustomize would take for its own, or rejects, in other words while it runs: objects without a name, and annotations by which
 * it leaves an object out or that it removes. Pure.
 */
import * as z from "zod";
import type { RenderStep } from "./kustomization.ts";

/** Domains of kustomize's own annotations. */
const domains =
  /^(?:(?:alpha\.|internal\.)?config\.kubernetes\.io|config\.k8s\.io|kustomize\.config\.k8s\.io)\/([\w.-]+)$/;

const objectSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string().nullish(),
    generateName: z.string().optional(),
    annotations: z.record(z.string(), z.unknown()).nullish(),
  }),
});

/** For one run. */
export interface Disguise {
  /** The object that kustomize gets. */
  readonly of: (object: unknown) => unknown;
  /** What kustomize has made, with the chart's own annotations, and without the names. */
  readonly undo: (manifest: string) => string;
  /** What kustomize says, in the words of the chart. */
  readonly explain: (message: string) => string;
}

/**
 * `marker`: in no text of the chart. An annotation that a patch mentions stays: its author knows what kustomize does with it, as to
 * leave an object out.
 */
export function createDisguise(steps: readonly RenderStep[], marker: string): Disguise {
  const patches = steps.flatMap(({ kustomization }) =>
    (kustomization.patches ?? []).map(({ patch }) => patch),
  );
  const keys = new Map<string, string>();
  let unnamed = 0;

  function keyOf(name: string): string {
    const own = domains.exec(name)?.[1];
    if (own === undefined || patches.some((patch) => patch.includes(own))) return name;
    const known = keys.get(name);
    if (known !== undefined) return known;
    const key = `annotation-${marker}${keys.size}x`;
    keys.set(name, key);
    return key;
  }

  function of(object: unknown): unknown {
    const found = objectSchema.safeParse(object).data;
    if (found === undefined) return object;
    const { name, generateName, annotations } = found.metadata;
    const metadata = {
      ...found.metadata,
      ...(!name && generateName !== undefined && { name: `unnamed-${marker}${unnamed++}` }),
      ...(annotations && {
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([key, value]) => [keyOf(key), value]),
        ),
      }),
    };
    return { ...found, metadata };
  }

  function restore(text: string): string {
    let restored = text;
    for (const [name, key] of keys) restored = restored.replaceAll(key, name);
    return restored;
  }

  return {
    of,
    // As kustomize writes the names.
    undo: (manifest) =>
      restore(manifest.replaceAll(new RegExp(`^  name: unnamed-${marker}\\d+\n`, "gm"), "")),
    explain: (message) => restore(message).replaceAll(marker, ""),
  };
}
