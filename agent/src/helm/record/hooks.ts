/** The hooks of a release as Helm has stored them, its tests among them. Pure. */
import * as z from "zod";
import { headOf, type OwnedObject } from "./manifest.ts";

/** The result of the last run of a hook. */
const phases = ["Succeeded", "Failed", "Running", "Unknown"] as const;
export type HookPhase = (typeof phases)[number];

/** A hook of a release. What it creates is not in the manifest, so Helm neither upgrades nor deletes it with the release. */
export interface HelmHook {
  readonly kind: string;
  readonly name: string;
  /** `pre-install`, `test` and so on. */
  readonly events: readonly string[];
  /** Those with a lower one run first. */
  readonly weight: number;
  /** `before-hook-creation` and so on; empty: Helm's default. */
  readonly deletePolicies: readonly string[];
  /** The phase of its last run; absent: it has not run. */
  readonly phase?: HookPhase;
  /** The part of its manifest that names the object. */
  readonly head: string;
}

/** A hook whose object is known. */
export interface HookObject extends OwnedObject, Omit<HelmHook, "kind" | "name" | "head"> {}

export const hookReply = z.object({
  kind: z.string(),
  name: z.string(),
  events: z.array(z.string()),
  weight: z.number(),
  deletePolicies: z.array(z.string()),
  phase: z.enum(phases).exactOptional(),
  head: z.string(),
});

/** More are left out: they are kept in memory, and in the inventory. */
const maxHooks = 50;
const maxTexts = 16;
const maxHead = 8 * 1024;

const textList = z
  .array(z.string())
  .nullish()
  .catch(undefined)
  .transform((all) => (all ?? []).slice(0, maxTexts));
const hookSchema = z.looseObject({
  kind: z.string().min(1),
  name: z.string().min(1),
  manifest: z.string().min(1),
  events: textList,
  weight: z.number().catch(0),
  delete_policies: textList,
  last_run: z.looseObject({ phase: z.string().nullish() }).nullish().catch(undefined),
});

/** Those that have a name: of a hook with `generateName` nobody knows which object it has created. */
export function hooksOf(hooks: readonly unknown[]): readonly HelmHook[] {
  return hooks.flatMap(hookOf).slice(0, maxHooks);
}

function hookOf(value: unknown): readonly HelmHook[] {
  const parsed = hookSchema.safeParse(value);
  if (!parsed.success) return [];
  const { kind, name, manifest, events, weight, delete_policies, last_run } = parsed.data;
  const head = headOf(manifest) || manifest;
  if (head.length > maxHead) return [];
  // Helm writes an empty phase before the first run.
  const phase = last_run?.phase;
  return [
    {
      kind,
      name,
      events,
      weight,
      deletePolicies: delete_policies,
      head,
      ...(phase && { phase: phases.find((each) => each === phase) ?? "Unknown" }),
    },
  ];
}

/** A manifest of the objects of hooks, to be read like a release's. */
export function hookManifest(hooks: readonly HelmHook[]): string {
  return hooks.map(({ head }) => `---\n${head}\n`).join("");
}

/** `objects`: what `hookManifest` has; a hook whose object cannot be read is left out. */
export function hookObjects(
  hooks: readonly HelmHook[],
  objects: readonly OwnedObject[],
): readonly HookObject[] {
  const left = [...objects];
  return hooks.flatMap(({ kind, name, head: _, ...hook }) => {
    const at = left.findIndex((each) => each.kind === kind && each.name === name);
    const [object] = at < 0 ? [] : left.splice(at, 1);
    return object === undefined ? [] : [{ ...object, ...hook }];
  });
}
