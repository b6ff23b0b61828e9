/** The methods of texts, and `join` of lists of texts. Work is charged before it is done. */
import type { Budget } from "./budget.ts";
import type { CelFunction } from "./cel-function.ts";
import { EvaluationFailure, noOverload } from "./failures.ts";
import { isList, kindOf } from "./values.ts";

type Texts = readonly [text: string, ...others: string[]];

export const stringMethods: readonly (readonly [string, CelFunction])[] = [
  texts("startsWith", 1, ([text, part = ""]) => text.startsWith(part)),
  texts("endsWith", 1, ([text, part = ""]) => text.endsWith(part)),
  texts("contains", 1, ([text, part = ""]) => text.includes(part)),
  texts("lowerAscii", 0, ([text]) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  texts("upperAscii", 0, ([text]) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  texts("trim", 0, ([text]) => text.trim()),
  texts("reverse", 0, ([text]) => [...text].reverse().join("")),
  method("charAt", [1, 1], ([text, index]) => {
    const characters = textOf("charAt", text);
    return characters.slice(indexIn("charAt", characters, index)).slice(0, 1);
  }),
  method("indexOf", [1, 2], ([text, part, from = 0n]) => {
    const whole = textOf("indexOf", text);
    return BigInt(whole.indexOf(textOf("indexOf", part), indexIn("indexOf", whole, from)));
  }),
  method("lastIndexOf", [1, 2], ([text, part, from]) => {
    const whole = textOf("lastIndexOf", text);
    const last = from === undefined ? whole.length : indexIn("lastIndexOf", whole, from);
    return BigInt(whole.lastIndexOf(textOf("lastIndexOf", part), last));
  }),
  method("substring", [1, 2], ([text, from, to]) => {
    const whole = textOf("substring", text);
    const start = indexIn("substring", whole, from);
    const end = to === undefined ? whole.length : indexIn("substring", whole, to);
    if (start > end) throw new EvaluationFailure("substring: the end is before the start");
    return whole.slice(start, end);
  }),
  method("split", [1, 2], ([text, separator, limit = -1n], budget) => {
    const whole = textOf("split", text);
    if (typeof limit !== "bigint") throw noOverload("split", kindOf(limit));
    budget.charge(whole.length + 1);
    const parts = whole.split(textOf("split", separator));
    if (limit < 0n || parts.length <= limit) return parts;
    if (limit === 0n) return [];
    const kept = parts.slice(0, Number(limit) - 1);
    return [...kept, parts.slice(kept.length).join(textOf("split", separator))];
  }),
  method("replace", [2, 3], ([text, old, replacement, limit = -1n], budget) => {
    const [whole, from, to] = [text, old, replacement].map((each) => textOf("replace", each));
    if (whole === undefined || from === undefined || to === undefined) return text;
    if (typeof limit !== "bigint") throw noOverload("replace", kindOf(limit));
    // An empty text is between all characters.
    budget.chargeText((whole.length + 1) * (to.length + 1));
    if (limit < 0n) return whole.replaceAll(from, () => to);
    budget.charge(whole.length + 1);
    const parts = whole.split(from);
    const kept = parts.slice(0, Math.min(Number(limit), parts.length - 1) + 1);
    const rest = parts.slice(kept.length);
    return [kept.join(to), ...rest].join(from);
  }),
  method("join", [0, 1], ([list, separator = ""], budget) => {
    if (!isList(list)) throw noOverload("join", kindOf(list));
    budget.charge(list.length);
    const parts = list.map((each) => textOf("join", each));
    const glue = textOf("join", separator);
    budget.chargeText(parts.reduce((sum, part) => sum + part.length + glue.length, 0));
    return parts.join(glue);
  }),
];

/** A method of a text with arguments that are texts. */
function texts(
  name: string,
  args: number,
  call: (texts: Texts) => unknown,
): readonly [string, CelFunction] {
  return method(name, [args, args], ([text, ...others]) =>
    call([textOf(name, text), ...others.map((each) => textOf(name, each))]),
  );
}

/** The receiver is read once; what takes more is charged by the method. */
function method(
  name: string,
  [minArgs, maxArgs]: readonly [number, number],
  call: (args: readonly unknown[], budget: Budget) => unknown,
): readonly [string, CelFunction] {
  return [
    name,
    {
      minArgs,
      maxArgs,
      call(args, { budget }) {
        for (const each of args) if (typeof each === "string") budget.chargeText(each.length);
        return call(args, budget);
      },
    },
  ];
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw noOverload(name, kindOf(value));
}

/** In UTF-16, as positions of this package are; texts of Kubernetes are ASCII where positions matter. */
function indexIn(name: string, text: string, value: unknown): number {
  if (typeof value !== "bigint") throw noOverload(name, kindOf(value));
  if (value < 0n || value > BigInt(text.length))
    throw new EvaluationFailure(`${name}: ${value} is outside of the text`);
  return Number(value);
}
