/** Which objects are deleted and created again, because the API server refuses to change them. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { type ImmutableRefusal, refusedText } from "../../helm/index.ts";
import { isKept } from "../../observe/index.ts";

export interface Replacement {
  /** `Job shop/once`. */
  readonly text: string;
  readonly refusal: ImmutableRefusal;
  /** As the chart renders it. */
  readonly document: KubeObject;
}

export type ReplacementPlan =
  | { readonly kind: "replace"; readonly objects: readonly Replacement[] }
  /** What prevents it, as the end of a sentence. Nothing is deleted then: the upgrade would fail by this object all the same. */
  | { readonly kind: "keep"; readonly why: string };

/** `replaced`: those that were, for the same content. `refusals`: in the order of Helm. */
export function planReplacement(
  refusals: readonly ImmutableRefusal[],
  documents: readonly KubeObject[],
  replaced: readonly string[],
): ReplacementPlan {
  const objects: Replacement[] = [];
  for (const refusal of refusals) {
    const text = refusedText(refusal.object);
    const { kind } = refusal.object;
    if (isKept(kind)) return keep(`force never deletes a ${kind}`);
    if (replaced.includes(text)) return keep(`${text} was deleted and created again before`);
    const [document, other] = documents.filter((each) => isRefused(each, refusal));
    if (document === undefined) return keep(`${text} is not in the chart's manifest`);
    if (other !== undefined) return keep(`the chart has more than one ${text}`);
    objects.push({ text, refusal, document });
  }
  return { kind: "replace", objects };
}

function keep(why: string): ReplacementPlan {
  return { kind: "keep", why };
}

/** Where the manifest does not have a namespace, it is the release's. */
function isRefused(
  { kind, metadata }: KubeObject,
  { object }: Pick<ImmutableRefusal, "object">,
): boolean {
  const isPlace =
    object.namespace === undefined ||
    !metadata.namespace ||
    metadata.namespace === object.namespace;
  return kind === object.kind && metadata.name === object.name && isPlace;
}

/** How many objects a sentence has. */
const shown = 3;

/** One sentence for all of them. `why`: see ReplacementPlan; undefined: nobody has asked for a replacement. */
export function refusalsText(refusals: readonly ImmutableRefusal[], why?: string): string {
  const fields = refusals
    .slice(0, shown)
    .map(({ object, field }) => `${field === "" ? "" : `${field} of `}${refusedText(object)}`);
  const more = refusals.length - fields.length;
  const what = `${fields.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const hasKept = refusals.some(({ object }) => isKept(object.kind));
  const then =
    why ??
    (hasKept
      ? "delete what cannot be changed yourself, or restore the field"
      : "with force it is deleted and created again");
  return `the API server refuses to change ${what}, because the field is immutable; ${then}`;
}
