/** Paths that tenants wrote, within the files of a source. Pure. */
import { posix } from "node:path";

/** The path from the root, without `.` and `..`; "." for the root itself, undefined if it leads out of the source. */
export function pathInSource(path: string, base = "."): string | undefined {
  // Flux takes a path that begins with a slash from the root of the source, too.
  const joined = posix.normalize(posix.join(base, path));
  const inside = joined.replace(/^\/+/, "").replace(/\/+$/, "");
  if (path.includes("\0") || inside === ".." || inside.startsWith("../")) return undefined;
  return inside === "" ? "." : inside;
}
