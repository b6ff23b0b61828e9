/** Runs kustomize on a manifest, once for each step. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { messageOf } from "@flotilla/shared/errors";
import { joinDocuments, kustomizationOf, toBatches, withNames, withoutNames } from "./documents.ts";
import { type Kustomization, kustomizationFile } from "./kustomization.ts";
import type { Rendering } from "./rendering.ts";

/** Helm rejects an empty result, also of a chart without objects. */
const nothing = "# no objects\n";

/** `dir`: an empty folder. Throws an Error with the field and the sentence of kustomize. */
export async function render(
  manifest: string,
  { kustomize, steps }: Rendering,
  dir: string,
): Promise<string> {
  // No name of an object begins with a number and a dash of this length by accident.
  const marker = `unnamed-${crypto.randomUUID()}-`;
  let rendered = withNames(manifest, marker);
  for (const { field, kustomization } of steps) {
    const batches = toBatches(rendered);
    const parts: string[] = [];
    for (const [at, batch] of batches.entries()) {
      const own = kustomizationOf(kustomization, batches, at);
      try {
        parts.push(await build(kustomize, own, batch.manifest, dir));
      } catch (thrown) {
        throw new Error(`${field}: kustomize: ${messageOf(thrown).replaceAll(marker, "")}`);
      }
    }
    rendered = joinDocuments(parts);
  }
  return rendered === "" ? nothing : withoutNames(rendered, marker);
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
