/**
 * Parses the text of an index. Scalars of YAML stay text: `version: 1.10` must not become the number 1.1. As in Helm, JSON is
 * accepted, and the last of several equal keys wins. Pure.
 */
import { FAILSAFE_SCHEMA, load, YAMLException } from "js-yaml";
import { messageOf } from "../../../runtime/errors/index.ts";
import { type ChartEntries, readChartEntries } from "./index-entry.ts";

export interface IndexDocument {
  /** The value under each chart's name, not validated. */
  readonly charts: ReadonlyMap<string, unknown>;
}

/** Parses a whole index. Throws an Error that says what is wrong with the text. */
export function parseIndexDocument(bytes: Uint8Array): IndexDocument {
  const text = decode(bytes);
  const root = parseText(text);
  if (!isMap(root))
    throw new Error(`it is ${describeRoot(text, root)}, not the index of a Helm repository`);
  if (typeof root["apiVersion"] !== "string" || root["apiVersion"] === "") {
    throw new Error("it has no apiVersion, so it is not the index of a Helm repository");
  }
  const entries = root["entries"];
  if (
    entries === undefined ||
    entries === null ||
    entries === "" ||
    entries === "null" ||
    entries === "~"
  ) {
    return { charts: new Map() };
  }
  if (!isMap(entries)) throw new Error("its entries are not a map of charts");
  return { charts: new Map(Object.entries(entries)) };
}

/** Parses the lines of one chart. Undefined when they are not valid without the rest of the index: the cut was wrong. */
export function parseChartBlock(name: string, block: Uint8Array): ChartEntries | undefined {
  let root: unknown;
  try {
    root = load(decode(block), { schema: FAILSAFE_SCHEMA, json: true });
  } catch {
    return undefined;
  }
  if (!isMap(root) || Object.keys(root).length !== 1 || !(name in root)) return undefined;
  const value = root[name];
  // Text instead of a list may be the inside of a string that started in another block.
  if (!Array.isArray(value) && value !== "" && value !== null && value !== "null" && value !== "~")
    return undefined;
  return readChartEntries(name, value);
}

function parseText(text: string): unknown {
  if (text.trimStart().startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch {
      // YAML may start with a brace too; for a text that is neither, YAML's message is the better one.
    }
  }
  try {
    return load(text, { schema: FAILSAFE_SCHEMA, json: true });
  } catch (thrown) {
    if (text.trimStart().startsWith("<")) return text;
    // Without the cause: it quotes the text over several lines.
    throw new Error(`it is not YAML: ${describeYamlFailure(thrown)}`);
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function describeRoot(text: string, root: unknown): string {
  const start = text.trimStart();
  if (start === "") return "empty";
  if (start.startsWith("<")) return "a web page";
  return Array.isArray(root) ? "a list" : "a piece of text";
}

function describeYamlFailure(thrown: unknown): string {
  if (!(thrown instanceof YAMLException)) return messageOf(thrown);
  return `${thrown.reason} in line ${thrown.mark.line + 1}`;
}

function isMap(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
