/** Selectors for labels and annotations as text, in the syntax of `kubectl get --selector`. Pure. */

type Texts = Readonly<Record<string, string>>;

export type TextSelector = (texts: Texts) => boolean;

/** Undefined: it is no selector. Without requirements it matches everything. */
export function parseTextSelector(selector: string): TextSelector | undefined {
  if (selector.trim() === "") return () => true;
  const requirements: TextSelector[] = [];
  // At the commas that are not inside parentheses.
  for (const text of selector.split(/,(?![^(]*\))/)) {
    const requirement = parseRequirement(text.trim());
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  return (texts) => requirements.every((matches) => matches(texts));
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
