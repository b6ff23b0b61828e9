/** Selectors for labels and annotations as text, in the syntax of `kubectl get --selector`. Pure. */

type Texts = Readonly<Record<string, string>>;

export type TextSelector = (texts: Texts) => boolean;

/** Undefined: it is not a selector. Without requirements it matches everything. */
export function parseTextSelector(selector: string): TextSelector | undefined {
  if (selector.trim() === "") return () => true;
  const requirements: TextSelector[] = [];
  for (const text of requirementTexts(selector)) {
    // The pattern of a set is linear only without long white space.
    const requirement = parseRequirement(text.trim().replace(/\s+/g, " "));
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  return (texts) => requirements.every((matches) => matches(texts));
}

/** Split at the commas that are not inside parentheses. */
function requirementTexts(selector: string): readonly string[] {
  const texts: string[] = [];
  let inside: string[] = [];
  for (const part of selector.split(",")) {
    inside.push(part);
    const [opened, closed] = [part.lastIndexOf("("), part.lastIndexOf(")")];
    const isInside = opened === closed ? inside.length > 1 : opened > closed;
    if (isInside) continue;
    texts.push(inside.join(","));
    inside = [];
  }
  return inside.length === 0 ? texts : [...texts, inside.join(",")];
}

const key = "[A-Za-z0-9./_-]+";
const value = "[A-Za-z0-9._-]*";
const setPattern = new RegExp(
  `^(${key})\\s+(in|notin)\\s*\\((\\s*${value}\\s*(?:,\\s*${value}\\s*)*)\\)$`,
);
const equalityPattern = new RegExp(`^(${key})\\s*(==?|!=)\\s*(${value})$`);
const existencePattern = new RegExp(`^(!?)\\s*(${key})$`);

function parseRequirement(text: string): TextSelector | undefined {
  const [, setKey, operator, list = ""] = setPattern.exec(text) ?? [];
  if (setKey !== undefined) {
    const values = new Set(list.split(",").map((each) => each.trim()));
    return (texts) => isListed(texts, setKey, values) === (operator === "in");
  }
  const [, name, sign, wanted = ""] = equalityPattern.exec(text) ?? [];
  if (name !== undefined)
    return (texts) => isListed(texts, name, new Set([wanted])) === (sign !== "!=");
  const [, not, existing] = existencePattern.exec(text) ?? [];
  if (existing === undefined) return undefined;
  return (texts) => Object.hasOwn(texts, existing) === (not === "");
}

function isListed(texts: Texts, name: string, values: ReadonlySet<string>): boolean {
  const found = Object.hasOwn(texts, name) ? texts[name] : undefined;
  return found !== undefined && values.has(found);
}
