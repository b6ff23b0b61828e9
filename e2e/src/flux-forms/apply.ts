/** Objects in the forms that users of Flux write: they can be applied, and no field is lost. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Program } from "../harness/program.ts";

const folder = join(import.meta.dirname, "documents");

/** An object as these tests read it. */
interface FormObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec?: object;
}

/** `kubectl` talks to an API server with the CRDs and the namespace. */
export function fluxFormsApply(kubectl: Program): void {
  for (const file of globSync("*.yaml", { cwd: folder }).sort()) {
    test(`Flux's form in ${file} is applied, and is read as it was written`, async () => {
      const path = join(folder, file);

      const { code, stderr } = await kubectl(["apply", "--server-side", "-f", path]);

      assert.equal(code, 0, stderr);
      assert.equal(stderr, "", "without a warning");
      for (const { apiVersion, kind, metadata, spec } of await objectsIn(path)) {
        if (spec === undefined) continue;
        const [group = ""] = apiVersion.split("/");
        const { stdout } = await kubectl([
          ...["get", `${kind}.${group}`, metadata.name, `--namespace=${metadata.namespace}`],
          ...["--output", "json"],
        ]);
        assert.partialDeepStrictEqual(JSON.parse(stdout).spec, spec);
      }
    });
  }
}

async function objectsIn(path: string): Promise<readonly FormObject[]> {
  return parseAllDocuments(await readFile(path, "utf8")).map(
    (document): FormObject => document.toJS(),
  );
}
