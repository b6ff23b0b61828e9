/** As much of a text as fits, with a mark where it is cut; half of a pair of surrogates is not valid UTF-8. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
