/**
 * Keeps values that come from Secrets out of sentences: Helm and API servers quote what they refuse, as in
 * `Invalid value: "hunter2"`. Pure.
 */
import { isMap, type Values } from "@flotilla/shared/values/merge-values.ts";

/** Shorter ones stand in every sentence; nobody keeps those secret. */
const shortest = 6;

/** The texts and numbers in values, in the ways in which messages have them, the longest first. */
export function secretWords(values: readonly Values[]): readonly string[] {
  const words = new Set<string>();
  const add = (word: string): void => {
    if (word.length >= shortest) words.add(word);
  };
  function collect(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) collect(item);
    else if (isMap(value)) for (const item of Object.values(value)) collect(item);
    else if (typeof value === "string") {
      add(value);
      add(JSON.stringify(value).slice(1, -1));
      add(Buffer.from(value).toString("base64"));
      for (const line of value.split("\n")) add(line.trim());
    } else if (value !== null && value !== undefined && typeof value !== "boolean")
      add(JSON.stringify(value));
  }
  for (const each of values) collect(each);
  return [...words].sort((a, b) => b.length - a.length);
}

/** The text with `***` for each of them. */
export function withoutWords(text: string, words: readonly string[]): string {
  return words.reduce((clean, word) => clean.replaceAll(word, "***"), text);
}
