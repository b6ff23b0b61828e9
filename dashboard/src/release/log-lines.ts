/** The lines of a log as the agent sends them: `[POD/CONTAINER] TEXT`. Pure. */

export interface LogLine {
  /** `pod/container`; "": the agent has added the line. */
  readonly origin: string;
  /** RFC 3339, where the line begins with one. */
  readonly time?: string;
  readonly text: string;
}

export interface Log {
  readonly lines: readonly LogLine[];
  /** `pod/container` of all lines, sorted. */
  readonly origins: readonly string[];
}

/** Colours and movements of a terminal. The escape character may have been replaced on the way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const escapes = /[\u001b\u009b\ufffd]\[[0-9;?]*[ -/]*[@-~]/g;
const prefix = /^\[([^\s[\]/]+\/[^\s[\]/]+)\] ?/;
const timestamp = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)\s+/;

export function parseLog(text: string): Log {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map(lineOf);
  const origins = new Set(lines.map(({ origin }) => origin).filter((origin) => origin !== ""));
  return { lines, origins: [...origins].sort() };
}

function lineOf(line: string): LogLine {
  const [start = "", origin = ""] = prefix.exec(line) ?? [];
  const text = line.slice(start.length).replace(escapes, "").replace(/\r$/, "");
  const [found = "", date = "", time = "", fraction = "", zone = ""] = timestamp.exec(text) ?? [];
  const at = `${date}T${time}${fraction}${zone}`;
  if (found === "" || Number.isNaN(Date.parse(at))) return { origin, text };
  return { origin, time: at, text: text.slice(found.length) };
}

/** `only`: of this container of a pod; "": of all. */
export function shownLines(
  { lines }: Log,
  { only, text }: { readonly only: string; readonly text: string },
): readonly LogLine[] {
  return lines.filter((line) => (only === "" || line.origin === only) && line.text.includes(text));
}

/** What is copied or saved: each line as it came, without colours; with its container only where there are several. */
export function logText(lines: readonly LogLine[], isOfSeveral: boolean): string {
  return lines
    .map(({ origin, time, text }) =>
      [
        ...(isOfSeveral && origin !== "" ? [`[${origin}]`] : []),
        ...(time === undefined ? [] : [time]),
        text,
      ].join(" "),
    )
    .map((line) => `${line}\n`)
    .join("");
}
