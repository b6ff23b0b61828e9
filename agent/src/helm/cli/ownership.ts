/** How Helm marks what belongs to a release. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { ReleaseKey } from "./release-record.ts";

/** Manages the fields that Helm applies. */
export const helmFieldManager = "helm";

export interface OwnershipMarks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Helm sets them on everything that it applies, and imports an existing object only with them. */
export function ownershipMarks({
  namespace,
  name,
}: Pick<ReleaseKey, "namespace" | "name">): OwnershipMarks {
  return {
    labels: { "app.kubernetes.io/managed-by": "Helm" },
    annotations: {
      "meta.helm.sh/release-name": name,
      "meta.helm.sh/release-namespace": namespace,
    },
  };
}

/** Whether Helm has applied the object for the release: nobody can mark what he may not write. */
export function isMarked({ metadata }: KubeObject, release: ReleaseKey): boolean {
  const { annotations } = ownershipMarks(release);
  return Object.entries(annotations).every(
    ([name, value]) => metadata.annotations?.[name] === value,
  );
}
