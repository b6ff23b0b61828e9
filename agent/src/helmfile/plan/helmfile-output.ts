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
      }),
    )
    .nullish(),
});

/** A release as `helmfile build` has it. */
export interface BuiltRelease {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** `NAME`, `NAMESPACE/NAME` or `CONTEXT/NAMESPACE/NAME`. */
  readonly needs: readonly string[];
}

/** `document`: one of the documents; each file of the helmfile is one. A text that helmfile did not write has no releases. */
export function builtReleases(document: unknown): readonly BuiltRelease[] {
  const parsed = builtSchema.safeParse(document);
  if (!parsed.success) return [];
  return (parsed.data.releases ?? []).map(({ name, namespace, needs }) => ({
    name,
    namespace,
    needs: needs ?? [],
  }));
}
