/** Who changed the spec of an object last, as the API server has recorded it. Pure. */
import type { KubeObject, ManagedFieldsEntry } from "../objects/index.ts";
import { dropBulk } from "./informer.ts";

/**
 * As `dropBulk`, and of `managedFields` only the last writer of the spec is kept, without its fields. For kinds that users write,
 * of which there are thousands at most.
 */
export function keepLastWriter<T extends KubeObject>(object: T): T {
  const writer = lastWriterOf(object);
  const rest = dropBulk(object);
  if (writer === undefined) return rest;
  return { ...rest, metadata: { ...rest.metadata, managedFields: [writer] } };
}

/** Undefined: nobody has a field of the spec. */
export function lastWriterOf({ metadata }: KubeObject): ManagedFieldsEntry | undefined {
  const [last] = (metadata.managedFields ?? [])
    .filter(({ subresource = "", fieldsV1 }) => subresource === "" && hasSpec(fieldsV1))
    .toSorted((one, other) => ((one.time ?? "") < (other.time ?? "") ? 1 : -1));
  if (last === undefined) return undefined;
  const { manager, operation, time } = last;
  return {
    ...(manager !== undefined && { manager }),
    ...(operation !== undefined && { operation }),
    ...(time !== undefined && { time }),
  };
}

function hasSpec(fields: unknown): boolean {
  return typeof fields === "object" && fields !== null && "f:spec" in fields;
}
