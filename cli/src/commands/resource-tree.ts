/** The objects of a release as an indented tree, as `flux tree` prints one, with the state of each. Pure. */
import { oneLine } from "@flotilla/shared/text";
import * as z from "zod";

const entrySchema = z.looseObject({
  more: z.number().optional(),
  uid: z.string().optional(),
  parent: z.string().optional(),
  kind: z.string().default(""),
  namespace: z.string().default(""),
  name: z.string().default(""),
  state: z.string().default(""),
  message: z.string().optional(),
  hook: z.looseObject({ events: z.array(z.string()).default([]) }).optional(),
});
type Entry = z.infer<typeof entrySchema>;

/** `lines`: JSON, one object each, parents before their children. */
export function resourceTree(lines: string): string {
  const entries = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => entrySchema.parse(JSON.parse(line)));
  const known = new Set(entries.map(({ uid }) => uid));
  const roots = entries.filter(
    ({ parent, more }) => !known.has(parent ?? "") && more === undefined,
  );
  const more = entries.find((entry) => entry.more !== undefined)?.more ?? 0;
  const text = roots.map((entry) => branch(entry, entries, "", "")).join("");
  return `${text}${more > 0 ? `and ${more} more\n` : ""}`;
}

function branch(entry: Entry, all: readonly Entry[], indent: string, stem: string): string {
  const { uid, parent, kind, namespace, name, state, message, hook } = entry;
  const children = uid === undefined ? [] : all.filter(({ parent }) => parent === uid);
  const where = namespace === "" ? name : `${namespace}/${name}`;
  const why = message === undefined ? "" : `: ${oneLine(message)}`;
  // What a hook has created is below it.
  const isBelow = all.some((each) => each.uid !== undefined && each.uid === parent);
  const mark = hook === undefined || isBelow ? "" : ` (${hookWords(hook.events)})`;
  return [
    `${indent}${stem}${kind}/${where}${mark} ${state}${why}\n`,
    ...children.map((child, index) => {
      const below = stem === "" ? indent : `${indent}${stem.startsWith("├") ? "│   " : "    "}`;
      return branch(child, all, below, index === children.length - 1 ? "└── " : "├── ");
    }),
  ].join("");
}

function hookWords(events: readonly string[]): string {
  return events.length === 1 && events[0] === "test" ? "test" : `hook ${events.join(", ")}`;
}
