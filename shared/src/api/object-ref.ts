/** References to Secrets and ConfigMaps of a workspace, as in `BundleDeployment.spec.referencedObjects`. */
import { z } from "zod";

export const objectRefSchema = z.object({
  kind: z.enum(["Secret", "ConfigMap"]),
  name: z.string(),
});

/** A Secret or ConfigMap by its name in the workspace. */
export type ObjectRef = Readonly<z.infer<typeof objectRefSchema>>;

/** `Secret/NAME` or `ConfigMap/NAME`. */
export function formatObjectRef({ kind, name }: ObjectRef): string {
  return `${kind}/${name}`;
}

/** The inverse of `formatObjectRef`; undefined for a text that is not a reference. */
export function parseObjectRef(text: string): ObjectRef | undefined {
  const at = text.indexOf("/");
  const parsed = objectRefSchema.safeParse({ kind: text.slice(0, at), name: text.slice(at + 1) });
  return parsed.success && parsed.data.name !== "" ? parsed.data : undefined;
}
