/** Removes values of Secrets from messages: Helm and API servers quote what they reject (`Invalid value: "hunter2"`). Pure. */
import { isMap, type Values } from "@flotilla/shared/values";

/** Shorter strings are part of any message, and no secrets. */
const minLength = 6;

/** The strings and numbers in values, in the forms that messages quote them in, the longest first. */
export function secretStrings(values: readonly Values[]): readonly string[] {
  const found = new Set<string>();
  const add = (text: string): void => {
    if (text.length >= minLength) found.add(text);
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
  return [...found].sort((a, b) => b.length - a.length);
}

/** The text with `***` for each of the secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
}
