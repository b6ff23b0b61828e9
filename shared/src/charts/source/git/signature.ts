/** The signature in a commit or an annotated tag, and what it signs. Pure. */

export type GitObjectKind = "commit" | "tag";

export interface SignedObject {
  readonly payload: Buffer;
  readonly signature: string;
}

const tagSignature = /^-----BEGIN (?:PGP|SSH) SIGNATURE-----$/m;

/** Undefined: it has no signature. Of a commit it is a header, of a tag the end of its text. */
export function splitSignature(object: Buffer, kind: GitObjectKind): SignedObject | undefined {
  // One character for each byte: a message need not be valid UTF-8.
  const text = object.toString("latin1");
  if (kind === "tag") {
    const at = text.search(tagSignature);
    if (at < 0) return undefined;
    return { payload: Buffer.from(text.slice(0, at), "latin1"), signature: text.slice(at) };
  }
  const headEnd = text.indexOf("\n\n");
  const head = headEnd < 0 ? text : text.slice(0, headEnd + 1);
  const found = /^gpgsig (.*\n(?: .*\n)*)/m.exec(head);
  if (found === null) return undefined;
  const [whole, value = ""] = found;
  const payload = text.slice(0, found.index) + text.slice(found.index + whole.length);
  return { payload: Buffer.from(payload, "latin1"), signature: value.replace(/\n /g, "\n") };
}

/** The bytes of armored PGP keys, which may be several blocks; undefined when there is none. */
export function dearmor(text: string): Buffer | undefined {
  const blocks = text.matchAll(
    /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(.*?)-----END PGP PUBLIC KEY BLOCK-----/gs,
  );
  const bytes = [...blocks].map(([, body = ""]) => {
    const lines = body.split(/\r?\n/);
    const start = lines.findIndex((line) => line.trim() === "") + 1;
    // The line with `=` at its start is a checksum.
    const data = lines.slice(start).filter((line) => !line.startsWith("="));
    return Buffer.from(data.join(""), "base64");
  });
  return bytes.length === 0 ? undefined : Buffer.concat(bytes);
}

export interface TagHeader {
  /** The id of the object that it names. */
  readonly object: string;
  readonly type: string;
  /** The name that it was made with. */
  readonly name: string;
}

/** What a tag says of itself, which its signature covers; undefined when it is not a tag as git writes one. */
export function parseTag(tag: Buffer): TagHeader | undefined {
  const [, object, type, name] =
    /^object ([0-9a-f]{40})\ntype ([a-z]+)\ntag ([^\n]+)\n/.exec(tag.toString("utf8")) ?? [];
  return object === undefined || type === undefined || name === undefined
    ? undefined
    : { object, type, name };
}
