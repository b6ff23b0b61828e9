/** What is changed in rendered objects, from a Bundle's options to a content. Pure. */
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import {
  commonMetadataSchema,
  type DeploymentContent,
  postRenderersSchema,
} from "@flotilla/shared/content";

/** Without what changes nothing, so that the content is the same as before these options existed. */
export function postRendering({
  postRenderers,
  commonMetadata,
}: BundleDeploymentOptions): Pick<DeploymentContent, "postRenderers" | "commonMetadata"> {
  const renderers = (postRenderers ?? []).flatMap(({ kustomize }) => {
    const patches = (kustomize?.patches ?? []).map(({ patch, target }) => ({
      patch,
      // An empty target matches all objects.
      ...(target && { target: withoutEmpty(target) }),
    }));
    const images = (kustomize?.images ?? []).map(withoutEmpty);
    const renderer = {
      ...(patches.length > 0 && { patches }),
      ...(images.length > 0 && { images }),
    };
    return Object.keys(renderer).length === 0 ? [] : [renderer];
  });
  const metadata = {
    ...(hasAny(commonMetadata?.labels) && { labels: commonMetadata?.labels }),
    ...(hasAny(commonMetadata?.annotations) && { annotations: commonMetadata?.annotations }),
  };
  return {
    // Parsed: without fields that this version does not know.
    ...(renderers.length > 0 && { postRenderers: postRenderersSchema.parse(renderers) }),
    ...(hasAny(metadata) && { commonMetadata: commonMetadataSchema.parse(metadata) }),
  };
}

/** Null and "" mean the same as absent. */
function withoutEmpty(
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Boolean(value)));
}

function hasAny(map: object | null | undefined): boolean {
  return Object.keys(map ?? {}).length > 0;
}
