/** What changes in an object, by field. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { changedPointers, isWithin, segmentsOf, valueAt } from "../../observe/index.ts";

export interface FieldChange {
  /** A JSON pointer; "" is the whole object. */
  readonly pointer: string;
  /** Undefined: there is nothing. */
  readonly before: unknown;
  readonly after: unknown;
}

/** For an object with more changes the parts that contain them are given: its labels, its annotations, its spec. */
const mostChanges = 2_000;

/** Without the changes of fields that are only known to be generated: their pointers are in `generated`. */
export function fieldChanges(
  live: KubeObject,
  planned: KubeObject,
  generated: readonly string[],
): readonly FieldChange[] {
  return coarse(changedPointers(live, planned, { ignored: [], most: mostChanges }))
    .filter((pointer) => !isGenerated(pointer, generated))
    .map((pointer) => {
      const segments = segmentsOf(pointer);
      return { pointer, before: valueAt(live, segments), after: valueAt(planned, segments) };
    });
}

/** Whether two forms of an object differ, generated values counted. */
export function differs(live: KubeObject, planned: KubeObject): boolean {
  return changedPointers(live, planned, { ignored: [], most: 1 }).length > 0;
}

export function isGenerated(pointer: string, generated: readonly string[]): boolean {
  return generated.some((each) => isWithin(pointer, each));
}

function coarse(pointers: readonly string[]): readonly string[] {
  if (pointers.length < mostChanges) return pointers;
  const parts = pointers.map((pointer) => {
    const [, first = "", second = ""] = pointer.split("/");
    return first === "metadata" ? `/metadata/${second}` : `/${first}`;
  });
  return [...new Set(parts)];
}
