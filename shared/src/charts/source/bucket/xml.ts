/**
 * The part of XML that S3 responds with: elements, text, entities. Anything that could make it large or refer to something
 * else (document types, entities of its own) is refused.
 */

import type { TimeSlices } from "../../../runtime/concurrency/index.ts";

export interface XmlElement {
  readonly name: string;
  /** Its own text, without its children's. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

interface OpenElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

const maxDepth = 16;
/** A page of a thousand objects has some ten thousand. */
const maxElements = 20_000;
/** One has two for each object, around its ETag: keys are encoded in another way. */
const maxEntities = 10_000;
const entities: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  gt: ">",
  lt: "<",
  quot: '"',
};

/** Tokens that are read at once. */
const tokensOfStep = 200;

/** The root element. Throws an Error that says where it is not valid. */
export function parseXml(text: string): XmlElement {
  const reading = readXml(text);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
  }
}

/** As `parseXml`, with pauses: a large text takes tens of milliseconds. */
export async function parseXmlInSlices(text: string, slices: TimeSlices): Promise<XmlElement> {
  const reading = readXml(text);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
    if (slices.isOver) await slices.pause();
  }
}

/** Yields now and then. */
function* readXml(text: string): Generator<void, XmlElement> {
  const root: OpenElement = { name: "", text: "", children: [] };
  const open: OpenElement[] = [root];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let elements = 0;
  let references = 0;
  let tokens = 0;

  function unescaped(plain: string): string {
    return plain.replace(/&([^;&]*);?/g, (reference: string, name: string) => {
      references += 1;
      if (references > maxEntities) throw invalid("it has too many entities");
      const character = entities[name] ?? numbered(name);
      if (character === undefined || !reference.endsWith(";"))
        throw invalid("it has an unknown entity");
      return character;
    });
  }

  function upTo(end: string, from: number): string {
    const found = text.indexOf(end, from);
    if (found === -1) throw invalid(`at ${at}`);
    at = found + end.length;
    return text.slice(from, found);
  }

  while (at < text.length) {
    tokens += 1;
    if (tokens % tokensOfStep === 0) yield;
    const current = open.at(-1) ?? root;
    if (text[at] !== "<") {
      const end = text.indexOf("<", at);
      const plain = text.slice(at, end === -1 ? undefined : end);
      current.text += plain.includes("&") ? unescaped(plain) : plain;
      at += plain.length;
    } else if (text.startsWith("<!--", at)) upTo("-->", at + 4);
    else if (text.startsWith("<?", at)) upTo("?>", at + 2);
    else if (text.startsWith("<![CDATA[", at)) current.text += upTo("]]>", at + 9);
    else if (text.startsWith("</", at)) {
      const name = upTo(">", at + 2).trimEnd();
      if (current === root || current.name !== name) throw invalid(`at ${at}: </${name}>`);
      open.pop();
    } else {
      const tag = upTo(">", at + 1);
      const name = /^[^\s<>/!?"'=&]+/.exec(tag)?.[0];
      if (name === undefined || tag.includes("<")) throw invalid(`at ${at}`);
      elements += 1;
      if (elements > maxElements) throw invalid("it has too many elements");
      const element: OpenElement = { name, text: "", children: [] };
      current.children.push(element);
      if (!tag.endsWith("/") && open.push(element) > maxDepth) throw invalid("it is too deep");
    }
  }
  const [first, second] = root.children;
  if (open.length > 1) throw invalid(`<${open.at(-1)?.name}> does not end`);
  if (first === undefined || second !== undefined) throw invalid("it has not one element");
  return first;
}

/** The text of the first child of that name. */
export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

/** The character of `#65` or `#x41`. */
function numbered(name: string): string | undefined {
  const code = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name);
  const point = Number.parseInt(code?.[1] ?? code?.[2] ?? "", code?.[1] === undefined ? 10 : 16);
  return code !== null && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

function invalid(why: string): Error {
  return new Error(`not valid XML: ${why}`);
}
