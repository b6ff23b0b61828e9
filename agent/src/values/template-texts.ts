/** The texts in values that are templates, and the values with what became of them. Pure. */
import { isRawNumber } from "@flotilla/shared/json/exact.ts";
import type { TextPlace } from "./reread.ts";
import { TemplateProblem } from "./template-problem.ts";

export type Values = Readonly<Record<string, unknown>>;

/** One text, and where it stands, as a person would write it. */
export interface TemplateText {
  readonly path: string;
  readonly text: string;
  readonly place: TextPlace;
}

/** What is done with the texts of values on a walk through them. */
interface Walk {
  /** Gives what a text that is no key becomes. */
  readonly text: (found: TemplateText) => unknown;
  readonly key: (found: TemplateText) => string;
}

/** What a text that stands for a label begins with. */
const labelPrefix = "global.fleet.clusterLabels.";

/** The label that a text stands for. */
export function labelIn(text: string): string | undefined {
  return text.startsWith(labelPrefix) ? text.slice(labelPrefix.length) : undefined;
}

/** Every text that stands for a label and, where they are wanted, that is a template. */
export function findTexts(
  values: Values,
  path: string,
  wantsTemplates: boolean,
): readonly TemplateText[] {
  const found: TemplateText[] = [];
  walk(values, path, {
    text: (one) => found.push(one),
    key: (one) => {
      found.push(one);
      return one.text;
    },
  });
  return found.filter(
    ({ text, place }) =>
      (wantsTemplates && text.includes("${")) || (place !== "key" && labelIn(text) !== undefined),
  );
}

/** What becomes of values; a text that is not replaced stays. Throws what `replace` throws, and a TemplateProblem. */
export function replaceTexts(
  values: Values,
  path: string,
  replace: (found: TemplateText) => unknown,
): Values {
  const replaced = walk(values, path, {
    text: replace,
    key: (one) => String(replace(one)),
  });
  return replaced as Values; // A map stays a map.
}

function walk(value: unknown, path: string, how: Walk): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => walkInto(item, `${path}[${index}]`, "item", how));
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const innerPath = `${path}${/^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`}`;
    return [
      how.key({ path: innerPath, text: key, place: "key" }),
      walkInto(inner, innerPath, "value", how),
    ] as const;
  });
  const replaced = Object.fromEntries(entries);
  if (Object.keys(replaced).length < entries.length)
    throw new TemplateProblem(`two keys of ${path} come to the same`);
  return replaced;
}

function walkInto(value: unknown, path: string, place: "value" | "item", how: Walk): unknown {
  return typeof value === "string"
    ? how.text({ path, text: value, place })
    : walk(value, path, how);
}
