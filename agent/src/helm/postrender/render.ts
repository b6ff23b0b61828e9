/** Runs kustomize on the objects of a chart, once for each step. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { messageOf } from "@flotilla/shared/errors";
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
  { path, environment }: Rendering["kustomize"],
  kustomization: Kustomization,
  manifest: string,
  parent: string,
): Promise<string> {
  const dir = await mkdtemp(join(parent, "kustomize-"));
  const home = await mkdtemp(join(parent, "home-"));
  try {
    const resources = "manifest.yaml";
    await writeFile(join(dir, resources), manifest, { mode: 0o600 });
    const file = kustomizationFile(kustomization, resources);
    await writeFile(join(dir, "kustomization.yaml"), file, { mode: 0o600 });
    const child = spawn(path, ["build", "."], {
      cwd: dir,
      env: { ...environment, HOME: home, TMPDIR: home },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise<string | undefined>((resolve, reject) => {
      child.once("error", (thrown) =>
        reject(
          new Error(
            `could not be started: ${messageOf(thrown)}; check the path that the agent was given with --kustomize`,
          ),
        ),
      );
      child.once("close", (code, signal) =>
        resolve(code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`),
      );
    });
    const [stdout, stderr, failure] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      ended,
    ]);
    if (failure === undefined) return stdout;
    const printed = stderr.replace(/^(?:# Warning.*\n)*Error: /, "").trim();
    throw new Error(printed === "" ? failure : printed);
  } finally {
    await rm(dir, { recursive: true, force: true });
    await rm(home, { recursive: true, force: true });
  }
}
