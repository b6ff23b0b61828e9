/** What Helm logs on its standard error, as a sentence. Pure. */

/** How many of Helm's last log lines a message has, and of which length together. */
const shownLines = 3;
const shownLog = 600;

/**
 * Its last warnings and errors: about hooks, and about objects that it waited for. Without those whose cause `error` has, which
 * is Helm's: it logs with what it failed, before it prints it.
 */
export function loggedText(stderr: string, error: string): string {
  const logged = stderr
    .split("\n")
    .flatMap((line) => /^(?:time=\S+ )?level=(?:WARN|ERROR) (.*)$/.exec(line.trim())?.[1] ?? [])
    .map(parseLine)
    .filter(({ cause }) => !error.includes(cause))
    .map(({ text }) => text)
    .slice(-shownLines);
  return [...new Set(logged)].join("; ").slice(0, shownLog);
}

interface LogLine {
  /** `msg="hook failed" hook=migrate error="timed out"` as `hook failed: timed out (hook migrate)`. */
  readonly text: string;
  /** The error of the line, or its message where it has none. */
  readonly cause: string;
}

function parseLine(line: string): LogLine {
  const fields = new Map(
    [...line.matchAll(/([\w.-]+)=("(?:[^"\\]|\\.)*"|\S*)/g)].map(([, key = "", value = ""]) => [
      key,
      valueText(value),
    ]),
  );
  const { msg = line, error = "", ...others } = Object.fromEntries(fields);
  const more = Object.entries(others).map(([key, value]) => `${key} ${value}`);
  const text = `${msg}${error === "" ? "" : `: ${error}`}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
  return { text, cause: error === "" ? msg : error };
}

/** Go quotes as JSON does, except for bytes that are no text. */
function valueText(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}
