/** Label selectors as text, as `kubectl get -l` has them. Pure. */

type Labels = Readonly<Record<string, string>>;
type Matches = (labels: Labels) => boolean;

/** Parts are separated by commas outside of parentheses. */
const separator = /,(?![^(]*\))/;
const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)?$/;
const equality = /^([^\s=!]+)\s*(==?|!=)\s*(.*)$/;

/**
 * `key`, `!key`, `key=value`, `key!=value`, `key in (a, b)` and `key notin (a, b)`, all of which have to match. As in Kubernetes,
 * `!=` and `notin` match objects without the label. What is only half typed is read as the name of a label.
 */
export function parseSelector(text: string): Matches {
  const parts = text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map(parsePart);
  return (labels) => parts.every((matches) => matches(labels));
}

function parsePart(part: string): Matches {
  const [, name = "", word, list = ""] = set.exec(part) ?? [];
  if (word !== undefined) {
    const values = new Set(list.split(",").map((each) => each.trim()));
    const isIn = (labels: Labels) => Object.hasOwn(labels, name) && values.has(labels[name] ?? "");
    return word === "in" ? isIn : (labels) => !isIn(labels);
  }
  const [, key = "", operator, value = ""] = equality.exec(part) ?? [];
  if (operator === "!=") return (labels) => labels[key] !== value;
  if (operator !== undefined) return (labels) => labels[key] === value;
  if (part.startsWith("!")) return (labels) => !Object.hasOwn(labels, part.slice(1).trim());
  return (labels) => Object.hasOwn(labels, part);
}
