/** Label selectors as text, as `kubectl get -l` has them. Pure. */

type Labels = Readonly<Record<string, string>>;
type Matches = (labels: Labels) => boolean;

export interface Selector {
  readonly matches: Matches;
  /** Why it is none, for people; it matches nothing then. */
  readonly problem?: string;
}

/** Parts are separated by commas outside of parentheses. */
const separator = /,(?![^(]*\))/;
const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equality = /^([^\s=!]+)\s*(==?|!=)\s*([^\s=!]*)$/;
const key = /^([a-z0-9.-]+\/)?[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i;

/**
 * `key`, `!key`, `key=value`, `key!=value`, `key in (a, b)` and `key notin (a, b)`, all of which have to match. As in Kubernetes,
 * `!=` and `notin` match objects without the label.
 */
export function parseSelector(text: string): Selector {
  if (/\([^)]*$/.test(text)) return wrong("a parenthesis is not closed");
  const parts = text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map((each) => ({ text: each, parsed: parsePart(each) }));
  const bad = parts.find(({ parsed }) => parsed === undefined || !key.test(parsed.key));
  if (bad !== undefined)
    return wrong(`"${bad.text}" is none of key, !key, key=value, key!=value, key in (a,b)`);
  return {
    matches: (labels) => parts.every(({ parsed }) => parsed?.matches(labels) === true),
  };
}

function wrong(why: string): Selector {
  return { matches: () => false, problem: `This is not a label selector: ${why}.` };
}

interface Part {
  readonly key: string;
  readonly matches: Matches;
}

function parsePart(part: string): Part | undefined {
  const [, name = "", word, list = ""] = set.exec(part) ?? [];
  if (word !== undefined) {
    const values = new Set(list.split(",").map((each) => each.trim()));
    const isIn = (labels: Labels) => Object.hasOwn(labels, name) && values.has(labels[name] ?? "");
    return { key: name, matches: word === "in" ? isIn : (labels) => !isIn(labels) };
  }
  const [, label = "", operator, value = ""] = equality.exec(part) ?? [];
  if (operator === "!=") return { key: label, matches: (labels) => labels[label] !== value };
  if (operator !== undefined) return { key: label, matches: (labels) => labels[label] === value };
  if (/[\s=]/.test(part)) return undefined;
  const absent = part.startsWith("!") ? part.slice(1).trim() : undefined;
  return absent === undefined
    ? { key: part, matches: (labels) => Object.hasOwn(labels, part) }
    : { key: absent, matches: (labels) => !Object.hasOwn(labels, absent) };
}
