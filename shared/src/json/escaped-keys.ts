/**
 * Keys with an escape in them, out of the way of `JSON.parse`.
 *
 * V8 of Node 24 (and 26: nodejs/node#63785) takes a key for another one that it has seen before in such a place: when the
 * other, as it is, begins the key as it is written. After `{"x\\":1}` the text `{"x\"":2}` gives the key of the first.
 * Only keys with an escape are taken for others, so these are written in a way that needs none, and renamed once they
 * are parsed. Chart values and ConfigMaps may have such keys, as a regular expression or a path of Windows. Where
 * everybody knows the keys beforehand (an index, a manifest, a token), plain `JSON.parse` is right.
 */
/** Private to Unicode: what begins with it was written by `shieldKeys`. */
const mark = "\uE000";
const quote = 0x22;
const backslash = 0x5c;

/** Looks at no more than the strings that have an escape. */
export function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf("\\"); at >= 0; ) {
    const end = endOfString(text, at);
    if (end < 0) return false;
    if (isKey(text, end)) return true;
    at = text.indexOf("\\", end + 1);
  }
  return false;
}

/** The same text, its keys without escapes. What is no JSON stays none, here or when its keys are named again. */
export function shieldKeys(text: string): string {
  let shielded = "";
  let done = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start + 1);
    if (end < 0) break;
    const written = text.slice(start + 1, end);
    if (isKey(text, end) && (written.includes("\\") || written.startsWith(mark))) {
      const hex = Buffer.from(written, "utf16le").toString("hex");
      shielded += `${text.slice(done, start)}"${mark}${hex}"`;
      done = end + 1;
    }
    start = text.indexOf('"', end + 1);
  }
  return shielded + text.slice(done);
}

/**
 * What was parsed, its keys named again; a leaf stays as it is. Throws a SyntaxError for a key that is no JSON. What has no
 * such key stays the object that was parsed: what is built of entries takes more memory, and is slower to compare.
 */
export function nameKeys(value: unknown, isLeaf: (value: object) => boolean): unknown {
  if (typeof value !== "object" || value === null || isLeaf(value)) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const named = items.map((item) => nameKeys(item, isLeaf));
    return named.every((item, index) => item === items[index]) ? value : named;
  }
  const entries = Object.entries(value);
  const named = entries.map(([key, inner]) => [nameOf(key), nameKeys(inner, isLeaf)] as const);
  const isSame = named.every(([key, inner], index) => {
    const [before, innerBefore] = entries[index] ?? [];
    return key === before && inner === innerBefore;
  });
  return isSame ? value : Object.fromEntries(named);
}

function nameOf(key: string): string {
  if (!key.startsWith(mark)) return key;
  const written = Buffer.from(key.slice(mark.length), "hex").toString("utf16le");
  return String(JSON.parse(`"${written}"`));
}

/** Where the string ends that `from` is in, which must not be after a backslash; -1 when it does not. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return -1;
}

/** Whether the string that ends there is a key. */
function isKey(text: string, end: number): boolean {
  for (let at = end + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === ":") return true;
    if (!/\s/.test(character)) return false;
  }
  return false;
}
