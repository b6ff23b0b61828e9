/**
 * Has a template fail where it asks for something that is not there. Helm renders that as nothing, so every look-up
 * `X.name` is written as one that says what was missing; what is never reached, such as behind `if hasKey`, fails nothing.
 * Pure.
 *
 * Only maps are looked up like this. What functions give besides them has fields, too, which go by their names: those of
 * `semver` and `now` begin with a capital, those of `split` with `_0`. In the template's own maps nothing is called so.
 */
import type { Token } from "./action-tokens.ts";

export interface ChainPlace {
  /** Put before what is missing, so that it can be told whose it was. */
  readonly mark: string;
  /** Whether `.` may be something else than what the template began with: inside of `range`, `with` and the like. */
  readonly isInner: boolean;
}

const methodLike = /^\.(\p{Lu}|_\d)/u;

export function checkedChains(tokens: readonly Token[], place: ChainPlace): string {
  return written(bracketed(tokens), place);
}

/** A token, or what stands in brackets. */
type Piece = Token | { readonly kind: "group"; readonly pieces: readonly Piece[] };

function bracketed(tokens: readonly Token[]): readonly Piece[] {
  const open: Piece[][] = [];
  let current: Piece[] = [];
  for (const token of tokens) {
    if (token.kind === "open") {
      open.push(current);
      current = [];
    } else if (token.kind === "close" && open.length > 0) {
      const pieces = current;
      current = open.pop() ?? [];
      current.push({ kind: "group", pieces });
    } else current.push(token);
  }
  // Brackets that are never closed: Helm complains of them.
  for (let outer = open.pop(); outer !== undefined; outer = open.pop()) {
    outer.push({ kind: "open", text: "(" }, ...current);
    current = outer;
  }
  return current;
}

function written(pieces: readonly Piece[], place: ChainPlace): string {
  let text = "";
  for (let at = 0; at < pieces.length; ) {
    const piece = pieces[at];
    if (piece === undefined) break;
    const fields = fieldsFrom(pieces, piece.kind === "field" ? at : at + 1);
    if (piece.kind === "field") {
      text += isRooted(pieces[at - 1]) ? chain(".", "", fields, place) : fields.join("");
      at += fields.length;
      continue;
    }
    if (piece.kind === "variable") text += chain(piece.text, piece.text, fields, place);
    else if (piece.kind === "group")
      text += chain(`(${written(piece.pieces, place)})`, "(…)", fields, place);
    else text += piece.text;
    at += piece.kind === "variable" || piece.kind === "group" ? fields.length + 1 : 1;
  }
  return text;
}

function fieldsFrom(pieces: readonly Piece[], start: number): readonly string[] {
  const fields: string[] = [];
  for (let at = start; ; at += 1) {
    const piece = pieces[at];
    if (piece?.kind !== "field") return fields;
    fields.push(piece.text);
  }
}

/** Whether a field is one of `.`: nothing that could have fields itself stands right before it. */
function isRooted(before: Piece | undefined): boolean {
  return (
    before === undefined || before.kind === "space" || before.kind === "open" || isSign(before)
  );
}

function isSign(piece: Piece): boolean {
  return piece.kind === "other" && /^[|=,(]$/.test(piece.text);
}

function chain(
  base: string,
  shownBase: string,
  fields: readonly string[],
  { mark, isInner }: ChainPlace,
): string {
  const isWhole = base === "$" || (base === "." && !isInner);
  let text = base;
  let shown = shownBase;
  for (const [index, field] of fields.entries()) {
    if (!(isWhole || shown.startsWith("$.")) && methodLike.test(field))
      return `${asOperand(text)}${fields.slice(index).join("")}`;
    shown += field;
    const map =
      index === 0 && (base === "." || base.startsWith("$")) ? text : `(default dict ${text})`;
    const missing = JSON.stringify(`${mark}${shown}`);
    text = `(index (or (pluck ${JSON.stringify(field.slice(1))} ${map}) (fail ${missing})) 0)`;
  }
  return text;
}

/** As something that a field can follow: `.` is followed by one without another dot. */
function asOperand(text: string): string {
  return text === "." ? "" : text;
}
