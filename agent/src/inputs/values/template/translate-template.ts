/**
 * Translates a template with `${ }` into an equivalent one for Helm's engine. Pure.
 *
 * Helm differs from Fleet in two ways. Its delimiters are `{{ }}`: text outside of `${ }` becomes a Go string literal, so
 * that Helm never interprets it. And for a missing key Fleet fails (`missingkey=error`) where Helm continues with an empty
 * value: so each field chain is preceded by a check of its keys, which fails with the name of the missing one.
 */
import { lexTemplate, TemplateError, type Token } from "./lex-template.ts";

/** Functions whose result depends on more than the cluster info; Fleet does not have them either. */
const unavailable = new Set(["env", "expandenv", "include", "tpl", "getHostByName", "lookup"]);
/** Helm's fromJson returns maps only; Fleet's function of that name is Helm's mustFromJson. */
const renamed: ReadonlyMap<string, string> = new Map([["fromJson", "mustFromJson"]]);
const opens = new Set(["if", "range", "with", "define", "block"]);
const keywords = new Set([...opens, "else", "end", "template", "break", "continue"]);

/** Each level of parentheses with fields makes a template several times longer. */
const maxLength = 512 * 1024;

/** Prefix of Helm's error for a missing key; the number of the template and the field chain follow. */
const missingMark = "flotilla:missing-key:";

/** `number`: of the template, for `missingKeyIn`. Throws a TemplateError. */
export function translateTemplate(template: string, number: number): string {
  const defined = new Set<string>();
  const used = new Set<string>();
  let depth = 0;
  let translated = "";
  for (const piece of lexTemplate(template)) {
    if (piece.kind === "literal") {
      translated += `{{ ${goString(piece.text)} }}`;
      continue;
    }
    const [first, second] = piece.tokens;
    const keyword = first?.kind === "word" ? first.source : "";
    if (opens.has(keyword)) depth += 1;
    if (keyword === "end") depth -= 1;
    if (depth < 0) throw new TemplateError(spanning("${ end }", "a block"));
    if (keyword === "define" || keyword === "block") defined.add(nameIn(second));
    if (keyword === "template" || keyword === "block") used.add(nameIn(second));
    translated += `{{ ${translateAction(piece.tokens, number)} }}`;
    if (translated.length > maxLength)
      throw new TemplateError("it is too large or nested too deeply");
  }
  if (depth > 0) throw new TemplateError(spanning("${ if }, ${ range } or ${ with }", "${ end }"));
  const unknown = [...used].find((name) => !defined.has(name));
  if (unknown !== undefined)
    throw new TemplateError(`it uses a template "${unknown}" that it does not define`);
  return translated;
}

/** The number of the template and the field chain whose last key is missing, from Helm's standard error. */
export function missingKeyIn(
  stderr: string,
): { readonly number: number; readonly chain: string } | undefined {
  const found = new RegExp(
    `^Error: execution error at \\([^)]*\\): ${missingMark}(\\d+):(\\S+)$`,
    "m",
  ).exec(stderr);
  if (found === null) return undefined;
  const [, number = "", chain = ""] = found;
  return { number: Number(number), chain };
}

function spanning(present: string, absent: string): string {
  return `it has a ${present} without ${absent}: a template must be complete in one string, and does not span several`;
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
  if (end < tokens.length) throw new TemplateError("it has a ) without (");
  return [...words, text].filter((part) => part !== "").join(" ");
}

interface Translated {
  readonly text: string;
  /** The first token that was not translated. */
  readonly end: number;
}

/** Commands and the signs between them, up to a closing parenthesis. */
function translatePipeline(tokens: readonly Token[], start: number, number: number): Translated {
  const parts: string[] = [];
  let operands: Operand[] = [];
  let isPiped = false;
  let at = start;
  const flush = (sign: string): void => {
    const assigns = sign === ":=" || sign === "=" || sign === ",";
    for (const [index, operand] of operands.entries()) {
      // An operand with arguments is a method, not a key.
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

/** An operand and its field chain. */
interface Operand {
  /** Empty: the dot, with fields. */
  readonly base: string;
  readonly fields: readonly string[];
  /** The source, abbreviated for messages. */
  readonly title: string;
}

function readOperand(
  tokens: readonly Token[],
  start: number,
  number: number,
): { readonly operand: Operand; readonly end: number } {
  let at = start;
  const first = tokens[at];
  if (first === undefined) throw new TemplateError("a ${ } ends with an incomplete expression");
  let base = "";
  let title = "";
  if (first.kind === "sign") {
    const inner = translatePipeline(tokens, at + 1, number);
    if (tokens[inner.end] === undefined) throw new TemplateError("it has an unclosed (");
    base = `(${inner.text})`;
    title = "(…)";
    at = inner.end + 1;
  } else if (first.kind !== "field") {
    if (first.kind === "word" && unavailable.has(first.source))
      throw new TemplateError(`it calls ${first.source}, which is not available in values`);
    title = first.source;
    base = renamed.get(title) ?? title;
    at += 1;
  }
  const fields: string[] = [];
  for (let next = tokens[at]; next?.kind === "field"; next = tokens[at]) {
    if (next.hasSpaceBefore && at > start) break;
    fields.push(next.source);
    at += 1;
  }
  if (first.kind === "word" && fields.length > 0) base = `(${base})`;
  return { operand: { base, fields, title }, end: at };
}

/** A field chain, preceded by a check of each key. */
function guard(operand: Operand, number: number): string {
  const { base, fields, title } = operand;
  if (fields.length === 0 || base.startsWith('"') || base === ".")
    return chainText(operand, fields.length);
  const checks = fields.map((field, index) => {
    const holder = index === 0 && base === "" ? "." : chainText(operand, index);
    const key = goString(field.slice(1));
    const chain = title + fields.slice(0, index + 1).join("");
    const error = goString(`${missingMark}${number}:${chain}`);
    // Only maps have keys; Go checks fields of other types. `split` returns maps of strings, which hasKey rejects.
    return `(or (and (typeIs "map[string]interface {}" ${holder}) (hasKey ${holder} ${key})) (and (typeIs "map[string]string" ${holder}) (hasKey (fromJson (toJson ${holder})) ${key})) (not (or (kindIs "map" ${holder}) (kindIs "invalid" ${holder}))) (fail ${error}))`;
  });
  const text = `(and ${checks.join(" ")} ${chainText(operand, fields.length)})`;
  if (text.length > maxLength) throw new TemplateError("it is too large or nested too deeply");
  return text;
}

function chainText({ base, fields }: Operand, count: number): string {
  return base + fields.slice(0, count).join("");
}

/** A Go string literal. Go has all escapes of JSON except lone surrogates. */
function goString(text: string): string {
  return JSON.stringify(text.toWellFormed());
}
