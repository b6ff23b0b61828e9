/** What Kubernetes would not take for a label selector, as a sentence; the schema of a CRD cannot say all of it. Pure. */
import type { LabelSelector } from "@flotilla/shared/api";

const operators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);
const labelName = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const labelPrefix = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const longestPrefix = 253;

/** The first thing that is wrong; undefined when the selector can be used. */
export function selectorProblem(selector: LabelSelector): string | undefined {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    const problem = keyProblem(key) ?? valueProblem(key, value);
    if (problem !== undefined) return problem;
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const problem = keyProblem(key) ?? requirementProblem(key, operator, values ?? []);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** `operator` is any text: the installed CRD may not be ours. */
function requirementProblem(
  key: string,
  operator: string,
  values: readonly string[],
): string | undefined {
  if (!operators.has(operator))
    return `the operator ${JSON.stringify(operator)} for the label ${key} is none of ${[...operators].join(", ")}`;
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues && values.length === 0)
    return `${operator} for the label ${key} has no values to compare with`;
  if (!takesValues && values.length > 0)
    return `${operator} for the label ${key} takes no values; use In or NotIn to compare with some`;
  for (const value of values) {
    const problem = valueProblem(key, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function keyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const prefix = slash === -1 ? undefined : key.slice(0, slash);
  const isGood =
    labelName.test(key.slice(slash + 1)) &&
    (prefix === undefined || (prefix.length <= longestPrefix && labelPrefix.test(prefix)));
  return isGood ? undefined : `${JSON.stringify(key)} cannot be the name of a label`;
}

function valueProblem(key: string, value: string): string | undefined {
  return value === "" || labelName.test(value)
    ? undefined
    : `${JSON.stringify(value)} cannot be the value of a label, so that no ${key} is ever that`;
}
