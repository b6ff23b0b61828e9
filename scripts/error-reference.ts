/** docs/errors.md: all errors, from the catalogues in the code. */
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ErrorKind } from "@flotilla/shared/errors";

const sources = "{shared,hub,agent,local,cli,proto}/src/**/*.ts";

/** The text of docs/errors.md. Throws when two catalogues use one code. */
export async function errorReference(root: string): Promise<string> {
  const kinds = new Map<string, ErrorKind>();
  for (const file of await catalogueFiles(root)) {
    const exported = (await import(pathToFileURL(join(root, file)).href)) as Readonly<
      Record<string, unknown>
    >;
    for (const kind of Object.values(exported).flatMap(kindsIn)) {
      const known = kinds.get(kind.code);
      if (known !== undefined && known !== kind)
        throw new Error(`the error code ${kind.code} is declared twice`);
      kinds.set(kind.code, kind);
    }
  }
  const rows = [...kinds.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  return [
    "# Errors",
    "",
    "Generated from the catalogues in the code by `npm run generate`. Logs have the code beside the message; conditions, events",
    "and the terminal show the message. *Retried*: the same operation is retried automatically.",
    "",
    "| code | retried | what to do |",
    "|---|---|---|",
    ...rows.map(
      ({ code, retryable, help }) =>
        `| \`${code}\` | ${retryable ? "yes" : "no"} | ${help.replaceAll("|", "\\|")} |`,
    ),
    "",
  ].join("\n");
}

/** All files that declare a catalogue. */
async function catalogueFiles(root: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const file of globSync(sources, { cwd: root }).sort()) {
    if (file.endsWith(".test.ts")) continue;
    const text = await readFile(join(root, file), "utf8");
    if (/^export const \w+ = defineErrors\(/m.test(text)) files.push(file);
  }
  return files;
}

function kindsIn(value: unknown): readonly ErrorKind[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).filter(isKind);
}

function isKind(value: unknown): value is ErrorKind {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    "retryable" in value &&
    "help" in value
  );
}
