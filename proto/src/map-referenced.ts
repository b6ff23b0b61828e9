/** Maps Secrets and ConfigMaps of a workspace between the generated wire types and our own. */
import type {
  ReferencedObject__Output,
  ReferencedObject as WireReferencedObject,
} from "./generated/flotilla/v1/ReferencedObject.ts";
import type { ObjectRef, ReferencedObject } from "./messages.ts";
import { present, shown, text, WireError } from "./validation.ts";

export function referencedToWire({ kind, name, packed }: ReferencedObject): WireReferencedObject {
  return {
    kind,
    name,
    ...packed,
  };
}

/** `where`: the message or field, for errors. Throws a WireError. */
export function referencedFromWire(
  wire: ReferencedObject__Output,
  where: string,
): ReferencedObject {
  const digest = text(wire.digest, `${where}.digest`);
  return {
    ...objectRefFromWire(wire, where),
    ...(digest !== "" && { packed: { digest, content: wire.content } }),
  };
}

/** `where`: the message or field, for errors. Throws a WireError. */
export function objectRefFromWire(
  wire: { readonly kind: string; readonly name: string },
  where: string,
): ObjectRef {
  const { kind } = wire;
  if (kind !== "Secret" && kind !== "ConfigMap")
    throw new WireError(`${where}.kind is ${shown(kind)}, must be Secret or ConfigMap`);
  return { kind, name: present(wire.name, `${where}.name`) };
}
