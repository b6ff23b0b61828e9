/** The JSON patch that reverts changes, for people. Texts may be secret, in any kind of object, so they are masked. Pure. */
import { segmentsOf, valueAt } from "./json-pointer.ts";

const maxOperations = 4;
const maxCharacters = 320;

export function revertPatch(live: unknown, reverted: unknown, pointers: readonly string[]): string {
  const operations = pointers.slice(0, maxOperations).map((path) => {
    const [before, after] = [live, reverted].map((each) => valueAt(each, segmentsOf(path)));
    if (after === undefined) return { op: "remove", path };
    return { op: before === undefined ? "add" : "replace", path, value: masked(after) };
  });
  const shown = operations.findLastIndex(
    (_, index) => JSON.stringify(operations.slice(0, index + 1)).length <= maxCharacters,
  );
  return JSON.stringify(operations.slice(0, shown + 1));
}

function masked(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" || value === null ? value : "***";
}
