/**
 * Writes a template with `${ }` as one for Helm's engine, which means the same. Pure.
 *
 * Two things Helm does otherwise than Fleet. Its delimiters are `{{ }}`: what stands outside of `${ }` becomes a text of
 * Go's, so that nothing in it can be taken for anything. And where Fleet fails for a key that is not there
 * (`missingkey=error`), Helm goes on with nothing: so before each field chain its keys are looked for, in whatever the dot
 * or the variable is at that moment, and a missing one fails by name.
 */
import { lexTemplate, type Token } from "./lex-template.ts";
import { TemplateProblem } from "./template-problem.ts";

/** Functions that reach outside of the template; Fleet has none of them either. */
const refused = new Set(["env", "expandenv", "include", "tpl", "getHostByName", "lookup"]);
/** Helm's own gives nothing but maps; this is what Fleet has under that name. */
const renamed: ReadonlyMap<string, string> = new Map([["fromJson", "mustFromJson"]]);
const opens = new Set(["if", "range", "with", "define", "block"]);
const keywords = new Set([...opens, "else", "end", "template", "break", "continue"]);

/** Each level of brackets with fields behind them makes a template several times longer. */
const maxLength = 512 * 1024;

/** Begins what Helm says of a missing key; the number of the template and the chain follow. */
const missingMark = "flotilla:missing-key:";

/** Throws a TemplateProblem. The number is said again when a key is missing. */
export function translateTemplate(template: string, number: number): string {
  const defined = new Set<string>();
  const used = new Set<string>();
  let depth = 0;
  let translated = "";
  for (const piece of lexTemplate(template)) {
    if (piece.kind === "literal") {
      translated += `{{ ${goText(piece.text)} }}`;
      continue;
    }
    const [first, second] = piece.tokens;
    const keyword = first?.kind === "word" ? first.source : "";
    if (opens.has(keyword)) depth += 1;
    if (keyword === "end") depth -= 1;
    if (depth < 0) throw new TemplateProblem(spanning("${ end }", "what it ends"));
    if (keyword === "define" || keyword === "block") defined.add(nameIn(second));
    if (keyword === "template" || keyword === "block") used.add(nameIn(second));
    translated += `{{ ${translateAction(piece.tokens, number)} }}`;
    if (translated.length > maxLength)
      throw new TemplateProblem("it is too large or nested too deeply");
  }
  if (depth > 0)
    throw new TemplateProblem(spanning("${ if }, ${ range } or ${ with }", "${ end }"));
  const unknown = [...used].find((name) => !defined.has(name));
  if (unknown !== undefined)
    throw new TemplateProblem(`it uses a template "${unknown}" that it does not define`);
  return translated;
}

/** The number of the template and the chain whose last key is missing, from what Helm says. */
export function missingKeyIn(
  said: string,
): { readonly number: number; readonly chain: string } | undefined {
  const found = new RegExp(
    `^Error: execution error at \\([^)]*\\): ${missingMark}(\\d+):(\\S+)$`,
    "m",
  ).exec(said);
  if (found === null) return undefined;
  const [, number = "", chain = ""] = found;
  return { number: Number(number), chain };
}

function spanning(present: string, absent: string): string {
  return `it has a ${present} without ${absent}: a template begins and ends in one text, and does not span several`;
}

function nameIn(token: Token | undefined): string {
  return token?.kind === "text" ? token.source.slice(1, -1) : "";
}

function translateAction(tokens: readonly Token[], number: number): string {
  const words: string[] = [];
  let at = 0;
  for (
    let token = tokens[at];
    token?.kind === "word" && keywords.has(token.source);
    token = tokens[at]
  ) {
    words.push(token.source);
    at += 1;
    if (token.source === "template" || token.source === "block" || token.source === "define") {
      words.push(tokens[at]?.source ?? "");
      at += 1;
      break;
    }
  }
  const { text, end } = translatePipeline(tokens, at, number);
  if (end < tokens.length) throw new TemplateProblem("a ) in it has no (");
  return [...words, text].filter((part) => part !== "").join(" ");
}

interface Translated {
  readonly text: string;
  /** Where what was not translated begins. */
  readonly end: number;
}

/** Commands with what stands between them, up to a bracket that closes. */
function translatePipeline(tokens: readonly Token[], start: number, number: number): Translated {
  const parts: string[] = [];
  let operands: Operand[] = [];
  let isPiped = false;
  let at = start;
  const flush = (sign: string): void => {
    const assigns = sign === ":=" || sign === "=" || sign === ",";
    for (const [index, operand] of operands.entries()) {
      // What is given arguments is a method, and no key.
      const isCalled = index === 0 && (isPiped || operands.length > 1);
      parts.push(
        assigns || isCalled ? chainText(operand, operand.fields.length) : guard(operand, number),
      );
    }
    operands = [];
    isPiped = sign === "|";
  };
  for (let token = tokens[at]; token !== undefined; token = tokens[at]) {
    if (token.source === ")" && token.kind === "sign") break;
    if (token.kind === "sign" && token.source !== "(") {
      flush(token.source);
      parts.push(token.source);
      at += 1;
    } else {
      const { operand, end } = readOperand(tokens, at, number);
      operands.push(operand);
      at = end;
    }
  }
  flush("");
  return { text: parts.join(" "), end: at };
}

/** Something and the fields that are asked of it. */
interface Operand {
  /** Empty: the dot, with fields. */
  readonly base: string;
  readonly fields: readonly string[];
  /** As it was written, as far as a person can follow it. */
  readonly title: string;
}

function readOperand(
  tokens: readonly Token[],
  start: number,
  number: number,
): { readonly operand: Operand; readonly end: number } {
  let at = start;
  const first = tokens[at];
  if (first === undefined) throw new TemplateProblem("something is missing at the end of a ${ }");
  let base = "";
  let title = "";
  if (first.kind === "sign") {
    const inner = translatePipeline(tokens, at + 1, number);
    if (tokens[inner.end] === undefined) throw new TemplateProblem("a ( in it has no )");
    base = `(${inner.text})`;
    title = "(…)";
    at = inner.end + 1;
  } else if (first.kind !== "field") {
    if (first.kind === "word" && refused.has(first.source))
      throw new TemplateProblem(`it calls ${first.source}, which templates of values cannot`);
    title = first.source;
    base = renamed.get(title) ?? title;
    at += 1;
  }
  const fields: string[] = [];
  for (let next = tokens[at]; next?.kind === "field"; next = tokens[at]) {
    if (next.isApart && at > start) break;
    fields.push(next.source);
    at += 1;
  }
  if (first.kind === "word" && fields.length > 0) base = `(${base})`;
  return { operand: { base, fields, title }, end: at };
}

/** The value of a chain, after its keys were looked for one by one. */
function guard(operand: Operand, number: number): string {
  const { base, fields, title } = operand;
  if (fields.length === 0 || base.startsWith('"') || base === ".")
    return chainText(operand, fields.length);
  const checks = fields.map((field, index) => {
    const holder = index === 0 && base === "" ? "." : chainText(operand, index);
    const key = goText(field.slice(1));
    const chain = title + fields.slice(0, index + 1).join("");
    const complaint = goText(`${missingMark}${number}:${chain}`);
    // Only maps have keys: fields of anything else are left to Go. `split` gives maps of texts, which hasKey refuses.
    return `(or (and (typeIs "map[string]interface {}" ${holder}) (hasKey ${holder} ${key})) (and (typeIs "map[string]string" ${holder}) (hasKey (fromJson (toJson ${holder})) ${key})) (not (or (kindIs "map" ${holder}) (kindIs "invalid" ${holder}))) (fail ${complaint}))`;
  });
  const text = `(and ${checks.join(" ")} ${chainText(operand, fields.length)})`;
  if (text.length > maxLength) throw new TemplateProblem("it is too large or nested too deeply");
  return text;
}

function chainText({ base, fields }: Operand, count: number): string {
  return base + fields.slice(0, count).join("");
}

/** A text in Go's notation, which knows all escapes of JSON but halves of characters. */
function goText(text: string): string {
  return JSON.stringify(text.toWellFormed());
}
