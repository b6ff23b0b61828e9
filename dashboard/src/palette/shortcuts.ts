/** What keys do on every page. Pure. */
import { sections } from "../address/index.ts";

export type Shortcut =
  | { readonly kind: "go"; readonly href: string }
  | { readonly kind: "palette" | "help" | "filter" }
  /** To the next or the previous entry of the page's list. */
  | { readonly kind: "move"; readonly by: 1 | -1 };

/** The keys of each shortcut, for people; a sequence is pressed one after the other. */
export const shortcutTexts: readonly (readonly [string, string])[] = [
  ["Ctrl K or ⌘ K", "find an app, a cluster, a release, a state, a label, an action or a page"],
  ["/", "filter the list"],
  ["j, k", "go to the next or the previous entry; Enter opens it"],
  ...sections.map(({ key, name }) => [`g ${key}`, `go to ${name}`] as const),
  ["?", "show these shortcuts"],
];

/**
 * The index of the entry that gets the focus; undefined: none does. `entries`: their addresses; `focused`: the index of the one that
 * has it, or -1; `last`: the one that had it when the page was left, so that after Back it goes on from there.
 */
export function entryAfter(
  entries: readonly string[],
  { focused, last, by }: { readonly focused: number; readonly last: string; readonly by: 1 | -1 },
): number | undefined {
  const from = focused >= 0 ? focused : entries.indexOf(last);
  const next = from < 0 ? 0 : from + by;
  return next >= 0 && next < entries.length ? next : undefined;
}

export interface Press {
  readonly key: string;
  readonly hasCommand: boolean;
  /** The focus is in a field, which gets the key. */
  readonly isTyping: boolean;
  /** The key before, if it was pressed a moment ago; "": none. */
  readonly before: string;
}

/** Undefined: the key does nothing of its own. */
export function shortcutFor({ key, hasCommand, isTyping, before }: Press): Shortcut | undefined {
  if (hasCommand) return key.toLowerCase() === "k" ? { kind: "palette" } : undefined;
  if (isTyping) return undefined;
  const href = sections.find((section) => section.key === key)?.href;
  if (before === "g" && href !== undefined) return { kind: "go", href };
  if (key === "?") return { kind: "help" };
  if (key === "j" || key === "k") return { kind: "move", by: key === "j" ? 1 : -1 };
  return key === "/" ? { kind: "filter" } : undefined;
}
