/** Parses the challenges of a WWW-Authenticate header (RFC 9110, 11.6.1). Pure. */

export interface Challenge {
  /** Lower case. */
  readonly scheme: string;
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y;
const quoted = /"((?:[^"\\]|\\.)*)"/sy;
const bare = /[^\s,"]+/y;
const equals = /\s*=\s*/y;
const between = /[\s,]*/y;

/** The challenges before the first syntax error. */
export function parseChallenges(header: string): readonly Challenge[] {
  const challenges: { readonly scheme: string; readonly parameters: Record<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(header) ?? undefined;
    if (match !== undefined) at = pattern.lastIndex;
    return match;
  };

  for (;;) {
    take(between);
    const word = take(token)?.[0];
    if (word === undefined) return challenges;
    // A word with a value is a parameter of the current challenge; one without starts the next challenge.
    if (take(equals) === undefined) {
      challenges.push({
        scheme: word.toLowerCase(),
        parameters: Object.create(null) as Record<string, string>,
      });
      take(/\s*/y);
      if (!/^[^\s,=]+\s*=\s*[^=\s,]/.test(header.slice(at))) take(token68);
      continue;
    }
    const text = take(quoted)?.[1]?.replace(/\\(.)/gs, "$1") ?? take(bare)?.[0];
    const open = challenges.at(-1);
    if (text === undefined || open === undefined) return challenges;
    open.parameters[word.toLowerCase()] ??= text;
  }
}
