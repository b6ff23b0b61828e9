/** How a content lies in Secrets: named by its digest, immutable, in parts where it is too large for one. Pure. */

import { contentParts, type PackedContent } from "@flotilla/shared/content";
import type { Secret } from "@flotilla/shared/kube/objects";
import { contentLabel } from "../../base/index.ts";

export const contentSecretType = "flotilla.dev/content";
const partsAnnotation = "flotilla.dev/parts";
const dataKey = "content";

/** The name of the Secret that holds a content's first part (and says how many there are). */
export function contentSecretName(deploymentId: string, part = 0): string {
  const base = `content-${deploymentId.slice(deploymentId.indexOf(":") + 1)}`;
  return part === 0 ? base : `${base}-${part}`;
}

/** The Secrets of a content. Written from the last to the first, so that the first means all. */
export function contentSecrets(content: PackedContent, namespace: string): readonly Secret[] {
  const parts = contentParts(content.bytes);
  return parts.map((bytes, part): Secret => {
    return {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: contentSecretName(content.deploymentId, part),
        namespace,
        labels: { [contentLabel]: "true" },
        annotations: { [partsAnnotation]: String(parts.length) },
      },
      type: contentSecretType,
      immutable: true,
      data: { [dataKey]: Buffer.from(bytes).toString("base64") },
    };
  });
}

/** How many Secrets the content of this first part has. */
export function partsOf(first: Secret): number {
  const parts = Number(first.metadata.annotations?.[partsAnnotation] ?? "1");
  return Number.isInteger(parts) && parts > 0 ? parts : 1;
}

/** The bytes of one part. */
export function partBytesOf(secret: Secret): Buffer {
  return Buffer.from(secret.data?.[dataKey] ?? "", "base64");
}
