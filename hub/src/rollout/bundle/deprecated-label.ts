/** Removes the label by which old versions of Rancher named the author of a Bundle, as Fleet does. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import { createdByNameLabel } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, refOf } from "@flotilla/shared/kube/objects";

/** The Bundle without the label, which alone is patched: all else may be somebody else's. A Bundle without it costs no request. */
export async function withoutDeprecatedLabel(
  deps: { readonly rest: KubeRest; readonly bundles: Store<Bundle> },
  bundle: Bundle,
  signal: AbortSignal,
): Promise<Bundle> {
  if (bundle.metadata.labels?.[createdByNameLabel] === undefined) return bundle;
  const body = { metadata: { labels: { [createdByNameLabel]: null } } };
  const ref = refOf(keyOf(bundle));
  const written = await deps.rest.patch(bundles, ref, { type: "merge", body }, { signal });
  deps.bundles.wrote(written);
  return written;
}
