/**
 * Removes values of Secrets from messages: Helm and API servers quote what they reject (`Invalid value: "hunter2"`). Pure.
 *
 * A value of six characters or more is removed wherever it is, and so are the forms in which it is sent: quoted, in base64, for
 * an address, as `user:password` in base64 (as registries and HTTP have it). A shorter one is part of many words: it is removed
 * where it stands between quotes, and where it is a word of its own of at least three characters. Words of YAML (`true`, `null`)
 * and numbers stay outside of quotes, and so do parts of names and paths (`prod` in `prod/web`).
 */
import { isMap, type Values } from "@flotilla/shared/values";

/** From this length on a text is not part of another word by chance. */
const minLength = 6;
/** A shorter word is part of any sentence. */
const minWordLength = 3;

const yamlWords: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "yes", "no", "on", "off"],
]);

/** Keys of what is sent before a password. */
const userKey = /user|login|account|client|id$|name$/i;

/** The limit of one map, whose pairs would otherwise grow with the square of its keys. */
const mostUsers = 8;

/** What messages may not have. */
export interface SecretTexts {
  /** Wherever they are; the longest first. */
  readonly anywhere: readonly string[];
  /** As words of their own. */
  readonly words: ReadonlySet<string>;
  /** Between quotes. */
  readonly quoted: ReadonlySet<string>;
}

/** The strings and numbers in values, in the forms that messages have them in. */
export function secretTexts(values: readonly Values[]): SecretTexts {
  const anywhere = new Set<string>();
  const words = new Set<string>();
  const quoted = new Set<string>();

  function add(text: string, isWord = true): void {
    if (text.length >= minLength) anywhere.add(text);
    else if (text !== "") {
      quoted.add(text);
      const isPlain = yamlWords.has(text.toLowerCase()) || text.length < minWordLength;
      if (isWord && !isPlain) words.add(text);
    }
  }

  function addString(value: string): void {
    add(value);
    add(JSON.stringify(value).slice(1, -1));
    for (const line of value.split("\n")) add(line.trim());
    addEncoded(value);
  }

  function addEncoded(value: string): void {
    for (const text of [...base64Forms(value), ...addressForms(value)])
      if (text.length >= minLength) anywhere.add(text);
  }

  function addCredentials(map: Values): void {
    const texts = Object.entries(map).flatMap(([key, value]) =>
      typeof value === "string" && value !== "" ? [{ key, value }] : [],
    );
    for (const user of texts.filter(({ key }) => userKey.test(key)).slice(0, mostUsers))
      for (const { key, value } of texts)
        if (key !== user.key) addEncoded(`${user.value}:${value}`);
    // In the Secret of a registry: user and password in base64.
    const { auth } = map;
    if (typeof auth !== "string") return;
    const decoded = Buffer.from(auth, "base64").toString();
    const at = decoded.indexOf(":");
    if (at >= 0) addString(decoded.slice(at + 1));
  }

  // Not recursive: texts of JSON may be nested as deep as they are long.
  const left: unknown[] = [...values];
  while (left.length > 0) {
    const value = left.pop();
    if (Array.isArray(value)) for (const item of value) left.push(item);
    else if (isMap(value)) {
      addCredentials(value);
      for (const item of Object.values(value)) left.push(item);
    } else if (typeof value === "string") {
      addString(value);
      left.push(jsonIn(value));
    } else if (value !== null && value !== undefined && typeof value !== "boolean")
      add(JSON.stringify(value), false);
  }
  const sorted = (texts: Iterable<string>) => [...texts].sort((a, b) => b.length - a.length);
  return { anywhere: sorted(anywhere), words, quoted };
}

/** The text with `***` for each of the secrets. */
export function redact(text: string, { anywhere, words, quoted }: SecretTexts): string {
  const clean = anywhere.reduce((found, secret) => found.replaceAll(secret, "***"), text);
  let redacted = "";
  for (let at = 0; at < clean.length; ) {
    const length = shortSecretAt(clean, at, { words, quoted });
    redacted += length === 0 ? clean[at] : "***";
    at += Math.max(1, length);
  }
  return redacted;
}

/** The length of the short secret that begins there; 0: none. It looks five texts up, however many secrets there are. */
function shortSecretAt(
  text: string,
  at: number,
  { words, quoted }: Pick<SecretTexts, "words" | "quoted">,
): number {
  for (let length = Math.min(minLength - 1, text.length - at); length > 0; length--) {
    const found = text.slice(at, at + length);
    if (!quoted.has(found)) continue;
    const [before, after] = [
      text.slice(Math.max(0, at - 2), at),
      text.slice(at + length, at + length + 3),
    ];
    if (/["'`]$/.test(before) && /^["'`]/.test(after)) return length;
    const isWord = !/[\p{L}\p{N}_/@-]$|[\p{L}\p{N}]\.$/u.test(before) && !wordGoesOn.test(after);
    if (words.has(found) && isWord) return length;
  }
  return 0;
}

const wordGoesOn = /^(?:[\p{L}\p{N}_/@-]|\.[\p{L}\p{N}])/u;

/** With and without padding, and as in tokens. */
function base64Forms(value: string): readonly string[] {
  const base64 = Buffer.from(value).toString("base64");
  return [base64, base64.replace(/=+$/, ""), Buffer.from(value).toString("base64url")];
}

/** As in a path, a query or before the host of an address. */
function addressForms(value: string): readonly string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  return encoded === value ? [] : [encoded, encoded.replaceAll("%20", "+")];
}

/** Such as the configuration of a registry client, which is a text in a Secret. */
function jsonIn(value: string): unknown {
  if (!value.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
