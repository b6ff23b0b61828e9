/**
 * A text without those characters at its end. A pattern such as `/ +$/` tries all of the spaces anew from each of them,
 * wherever in the text they stand, which holds up the agent for minutes where there are many. Pure.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
