/**
 * Protects keys with escapes from a bug in `JSON.parse`.
 *
 * V8 of Node 24 (and 26: nodejs/node#63785) confuses a key with one that it parsed before at such a place: when the earlier
 * key is a prefix of the text of this one. After `{"x\\":1}` the text `{"x\"":2}` gives the key of the first. Only keys with
 * an escape are affected, so they are encoded without escapes before parsing, and decoded after it. Chart values and
 * ConfigMaps may have such keys, such as a regular expression or a Windows path. Where the keys are known beforehand (an
 * index, a manifest, a token), plain `JSON.parse` is fine.
 */
/** A private-use character: keys that start with it were encoded by `encodeKeys`. */
const prefix = "\uE000";
const quote = 0x22;
const backslash = 0x5c;

/** Checks only the strings that have an escape. */
export function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf("\\"); at >= 0; ) {
    const end = endOfString(text, at);
    if (end < 0) return false;
    if (isKey(text, end)) return true;
    at = text.indexOf("\\", end + 1);
  }
  return false;
}

/** The same text with its keys encoded. Invalid JSON stays invalid, here or in `decodeKeys`. */
export function encodeKeys(text: string): string {
  let shielded = "";
  let done = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start + 1);
    if (end < 0) break;
    const written = text.slice(start + 1, end);
    if (isKey(text, end) && (written.includes("\\") || written.startsWith(prefix))) {
      const hex = Buffer.from(written, "utf16le").toString("hex");
      shielded += `${text.slice(done, start)}"${prefix}${hex}"`;
      done = end + 1;
    }
    start = text.indexOf('"', end + 1);
  }
  return shielded + text.slice(done);
}

/**
 * The parsed value with its keys decoded; leaves stay as they are. Throws a SyntaxError for a key that is not JSON. A value
 * without such keys stays the parsed object: one that is built from entries needs more memory, and compares slower.
 */
export function decodeKeys(value: unknown, isLeaf: (value: object) => boolean): unknown {
  if (typeof value !== "object" || value === null || isLeaf(value)) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const named = items.map((item) => decodeKeys(item, isLeaf));
    return named.every((item, index) => item === items[index]) ? value : named;
  }
  const entries = Object.entries(value);
  const named = entries.map(([key, inner]) => [decodeKey(key), decodeKeys(inner, isLeaf)] as const);
  const isSame = named.every(([key, inner], index) => {
    const [before, innerBefore] = entries[index] ?? [];
    return key === before && inner === innerBefore;
  });
  return isSame ? value : Object.fromEntries(named);
}

function decodeKey(key: string): string {
  if (!key.startsWith(prefix)) return key;
  const written = Buffer.from(key.slice(prefix.length), "hex").toString("utf16le");
  return String(JSON.parse(`"${written}"`));
}

/** The end of the string around `from`, which must not be after a backslash; -1 when the string does not end. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return -1;
}

/** Whether the string that ends at `end` is a key. */
function isKey(text: string, end: number): boolean {
  for (let at = end + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === ":") return true;
    if (!/\s/.test(character)) return false;
  }
  return false;
}
