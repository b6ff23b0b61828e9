/** HelmOps in all forms that users of Fleet write: each client can apply them, and no field is lost. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { validateRelease } from "@flotilla/hub/frontends";
import { ignoredFieldRemarks, releaseOfHelmOp, unknownFieldRemarks } from "@flotilla/hub/rules";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Program } from "../harness/program.ts";

const folder = join(import.meta.dirname, "documents");

/** `kubeconfig`: of an API server with the CRDs and the workspaces, which `kubectl` talks to. */
export function fleetFormsApply(kubectl: Program, kubeconfig: string): void {
  for (const file of globSync("*.yaml", { cwd: folder }).sort()) {
    const path = join(folder, file);

    test(`Fleet's form in ${file} is applied by server-side apply, and is read as it was written`, async () => {
      const { code, stderr } = await kubectl(["apply", "--server-side", "-f", path]);

      assert.equal(code, 0, stderr);
      assert.equal(stderr, "", "without a warning");
      for (const { metadata, spec } of await helmOpsIn(path)) {
        const { stdout } = await kubectl([
          ...["get", "helmop", metadata.name, `--namespace=${metadata.namespace}`, "-o", "json"],
        ]);
        assert.deepEqual(JSON.parse(stdout).spec, spec);
      }
    });

    test(`Fleet's form in ${file} is created and read by the product's own client`, async (t) => {
      const rest = connectKube(await loadKubeconfig({ path: kubeconfig }));
      t.onTestFinished(() => rest.close());
      for (const helmOp of await helmOpsIn(path)) {
        const metadata = { ...helmOp.metadata, name: `${helmOp.metadata.name}-again` };

        const created = await rest.create(helmOps, { ...helmOp, metadata });
        assert.deepEqual(created.spec, helmOp.spec);
        assert.deepEqual((await rest.get(helmOps, metadata))?.spec, helmOp.spec);
      }
    });

    test(`the hub accepts Fleet's form in ${file}`, async () => {
      for (const helmOp of await helmOpsIn(path)) {
        const validationError = validateRelease(releaseOfHelmOp(helmOp));
        assert.equal(validationError, undefined);
        assert.deepEqual(unknownFieldRemarks(helmOp), []);
        assert.deepEqual(ignoredFieldRemarks(helmOp.spec), []);
      }
    });
  }
}

async function helmOpsIn(path: string): Promise<readonly HelmOp[]> {
  const objects = parseAllDocuments(await readFile(path, "utf8")).map(
    (document): HelmOp => document.toJS(),
  );
  return objects.filter(({ kind }) => kind === "HelmOp");
}
