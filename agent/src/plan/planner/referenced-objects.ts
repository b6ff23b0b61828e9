/** What a planned content refers to: sent with the request, or stored already. Nothing of a request is stored. */
import type { ReferencedObject } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import { unpackReferencedObject } from "@flotilla/shared/referenced";
import type { KnownObject, ReferencedDeps } from "../../state/index.ts";

/** The request's objects come first: they belong to the content. Throws REFERENCED_OBJECT_INVALID. */
export async function withRequested(
  stored: ReferencedDeps["referenced"],
  requested: readonly ReferencedObject[],
): Promise<ReferencedDeps["referenced"]> {
  const known = new Map<string, KnownObject>();
  for (const { packed, kind, name } of requested) {
    const ref = { kind, name };
    if (packed === undefined) known.set(formatObjectRef(ref), {});
    else {
      const { digest, content: bytes } = packed;
      const object = await unpackReferencedObject(ref, { digest, bytes });
      known.set(formatObjectRef(ref), { digest, object });
    }
  }
  return { get: (ref) => known.get(formatObjectRef(ref)) ?? stored.get(ref) };
}
