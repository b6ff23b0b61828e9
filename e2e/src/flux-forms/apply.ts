/** Objects in the forms that users of Flux write: they can be applied, and no field is lost. */
import assert from "node:assert/strict";
import { test } from "vitest";
import type { Program } from "../harness/program.ts";
import { readForms } from "./form-documents.ts";

/** `kubectl` talks to an API server with the CRDs and the namespace. */
export async function fluxFormsApply(kubectl: Program): Promise<void> {
  for (const { file, path, objects } of [
    ...(await readForms("documents")),
    ...(await readForms("refused")),
  ]) {
    test(`Flux's form in ${file} is applied, and is read as it was written`, async () => {
      const { code, stderr } = await kubectl(["apply", "--server-side", "-f", path]);

      assert.equal(code, 0, stderr);
      assert.equal(stderr, "", "without a warning");
      for (const { apiVersion, kind, metadata, spec } of objects) {
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
