/** The requests of users on an object of a front end, as its Bundle gets them. Pure. */
import {
  correctDriftRequestAnnotation,
  forceRequestAnnotation,
  reconcileRequestAnnotation,
  resetRequestAnnotation,
} from "@flotilla/shared/api/names";
import type { KubeObject } from "@flotilla/shared/kube/objects";

const names = [
  reconcileRequestAnnotation,
  forceRequestAnnotation,
  resetRequestAnnotation,
  correctDriftRequestAnnotation,
];

/** Those that are set. */
export function requestAnnotations({
  metadata,
}: Pick<KubeObject, "metadata">): Pick<KubeObject["metadata"], "annotations"> {
  const annotations = Object.fromEntries(
    names.flatMap((name) => {
      const value = metadata.annotations?.[name] ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}
