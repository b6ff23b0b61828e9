/** What `helmfile list` and `helmfile build` print. Pure. */
import * as z from "zod";

const listedSchema = z.object({
  name: z.string(),
  namespace: z.string(),
  /** Its `condition` holds, and no selector leaves it out. */
  enabled: z.boolean(),
  /** Its field of that name. */
  installed: z.boolean(),
});

/** A release as `helmfile list --output json` has it. */
export type ListedRelease = Readonly<z.infer<typeof listedSchema>>;

export const listSchema = z.array(listedSchema).nullable();

const builtSchema = z.looseObject({
  releases: z
    .array(
      z.looseObject({
        name: z.string(),
        namespace: z.string().optional(),
        needs: z.array(z.string()).nullish(),
        hooks: z.array(z.unknown()).nullish(),
      }),
    )
    .nullish(),
  hooks: z.array(z.unknown()).nullish(),
});

/** A release as `helmfile build` has it. */
export interface BuiltRelease {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** `NAME`, `NAMESPACE/NAME` or `CONTEXT/NAMESPACE/NAME`. */
  readonly needs: readonly string[];
  readonly hasHooks: boolean;
}

export interface BuiltState {
  readonly releases: readonly BuiltRelease[];
  /** The file itself has hooks. */
  readonly hasHooks: boolean;
}

/** `document`: one of the documents; each file of the helmfile is one. Undefined if it is none of helmfile's. */
export function builtState(document: unknown): BuiltState | undefined {
  const parsed = builtSchema.safeParse(document);
  if (!parsed.success) return undefined;
  const { releases, hooks } = parsed.data;
  return {
    releases: (releases ?? []).map((release) => ({
      name: release.name,
      namespace: release.namespace,
      needs: release.needs ?? [],
      hasHooks: (release.hooks ?? []).length > 0,
    })),
    hasHooks: (hooks ?? []).length > 0,
  };
}
