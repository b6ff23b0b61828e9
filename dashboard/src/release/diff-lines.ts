/** The lines of a unified diff, by what they mean. Pure. */

export type DiffKind = "title" | "removed" | "added" | "note" | "same";

export function kindOf(line: string): DiffKind {
  if (line.startsWith("---") || line.startsWith("+++") || line.startsWith("@@")) return "title";
  if (line.startsWith("-")) return "removed";
  if (line.startsWith("+")) return "added";
  return line.startsWith("#") ? "note" : "same";
}
