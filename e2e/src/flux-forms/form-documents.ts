/** The documents of this folder, and what is replaced in them before they are applied to a fleet. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

/** An object as these tests read it. */
export interface FormObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { readonly suspend?: boolean; readonly type?: string };
}

export interface FormDocument {
  /** The path of the file. */
  readonly path: string;
  readonly file: string;
  readonly text: string;
  readonly objects: readonly FormObject[];
}

/** `documents`: become Ready. `refused`: what is not supported, each with a reason in its status. */
export type FormFolder = "documents" | "refused";

/** The files of a folder, by their name. */
export async function readForms(folder: FormFolder): Promise<readonly FormDocument[]> {
  const dir = join(import.meta.dirname, folder);
  return await Promise.all(
    globSync("*.yaml", { cwd: dir })
      .sort()
      .map(async (file) => {
        const path = join(dir, file);
        const text = await readFile(path, "utf8");
        return { path, file, text, objects: objectsOf(text) };
      }),
  );
}

function objectsOf(text: string): readonly FormObject[] {
  return parseAllDocuments(text).map((document): FormObject => document.toJS());
}

/** What a document has, and what stands in its place: addresses, and digests of what is published again in each run. */
export type Replacements = Readonly<Record<string, string>>;

export function replaceAll(text: string, replacements: Replacements): string {
  return Object.entries(replacements).reduce(
    (result, [from, to]) => result.replaceAll(from, to),
    text,
  );
}

/** Fails for an address that no document has: it would be replaced nowhere. */
export function assertAllAreUsed(
  documents: readonly FormDocument[],
  replacements: Replacements,
): void {
  for (const from of Object.keys(replacements))
    assert.ok(
      documents.some(({ text }) => text.includes(from)),
      `no document has ${from}`,
    );
}
