/** Runs kustomize on the objects of a chart, once for each step. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import { runInSandbox } from "../../sandbox/run/index.ts";
import { createDisguise } from "./disguise.ts";
import { joinDocuments, kustomizationOf, toBatches } from "./documents.ts";
import { type Kustomization, kustomizationFile } from "./kustomization.ts";
import { objectsOfKustomize, rejectUnreadable } from "./objects.ts";
import type { Rendering } from "./rendering.ts";

/** Helm rejects an empty result, also of a chart without objects. */
const nothing = "# no objects\n";

/** `dir`: an empty folder. Throws an Error with the field and the sentence of kustomize. */
export async function render(
  objects: readonly unknown[],
  { kustomize, steps }: Pick<Rendering, "kustomize" | "steps">,
  dir: string,
): Promise<string> {
  rejectUnreadable(objects);
  const disguise = createDisguise(steps, `${crypto.randomUUID()}-`);
  let rendered: string | undefined;
  for (const { field, kustomization } of steps) {
    const batches = toBatches(
      rendered === undefined ? objects.map(disguise.of) : objectsOfKustomize(rendered),
    );
    const parts: string[] = [];
    for (const [at, batch] of batches.entries()) {
      const own = kustomizationOf(kustomization, batches, at);
      try {
        parts.push(await build(kustomize, own, batch.manifest, dir));
      } catch (thrown) {
        throw new Error(`${field}: kustomize: ${disguise.explain(messageOf(thrown))}`);
      }
    }
    rendered = joinDocuments(parts);
  }
  return rendered === undefined || rendered === "" ? nothing : disguise.undo(rendered);
}

async function build(
  { path, environment, sandbox }: Rendering["kustomize"],
  kustomization: Kustomization,
  manifest: string,
  parent: string,
): Promise<string> {
  const tree = await mkdtemp(join(parent, "kustomize-"));
  try {
    const resources = "manifest.yaml";
    await writeFile(join(tree, resources), manifest, { mode: 0o600 });
    const file = kustomizationFile(kustomization, resources);
    await writeFile(join(tree, "kustomization.yaml"), file, { mode: 0o600 });
    const args = ["build", "."];
    const result = await runInSandbox(sandbox, { program: path, args, tree, parent, environment });
    if (result.kind === "not-started")
      throw new Error(
        `could not be started: ${result.why}; check the path that the agent was given with --kustomize`,
      );
    if (result.kind === "exceeded") throw new Error(result.what);
    const { stdout, stderr, failure } = result;
    if (failure === undefined) return stdout;
    const printed = stderr.replace(/^(?:# Warning.*\n)*Error: /, "").trim();
    throw new Error(printed === "" ? failure : printed);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}
