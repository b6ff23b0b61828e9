/** The words of a plan, and its text in parts. Pure. */
import type { FleetPlanGroup } from "@flotilla/shared/plan";
import { plural } from "../fleet/index.ts";

/** `Changes (1 to create, 2 to update)`. */
export function countsOf({ result, counts, failures }: FleetPlanGroup): string {
  const { create, update, replace, delete: deleted } = counts;
  const parts = [
    [create, "create"],
    [update, "update"],
    [replace, "replace"],
    [deleted, "delete"],
  ] as const;
  const texts = parts.filter(([count]) => count > 0).map(([count, verb]) => `${count} to ${verb}`);
  const suffix = texts.length === 0 ? "" : ` (${texts.join(", ")})`;
  switch (result) {
    case "install":
      return `First installation${suffix}`;
    case "fails":
      return `Would fail${failures > 0 ? ` at ${plural(failures, "object")}` : ""}${suffix}`;
    case "changes":
      return `Changes${suffix}`;
  }
}

/** What would happen to one object. */
export interface PlannedObject {
  /** `Deployment shop/web: update`. */
  readonly title: string;
  readonly lines: string;
}

/** The objects of a text: each begins with a line `# TITLE`. What comes before the first is an object without a title of its own. */
export function objectsOf(text: string): readonly PlannedObject[] {
  const objects: { title: string; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) objects.push({ title: line.slice(2), lines: [] });
    else if (objects.length > 0 || line !== "") {
      if (objects.length === 0) objects.push({ title: "Changes", lines: [] });
      objects.at(-1)?.lines.push(line);
    }
  }
  return objects.map(({ title, lines }) => ({ title, lines: lines.join("\n").trimEnd() }));
}
