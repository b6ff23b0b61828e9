/**
 * Global setup of the e2e tests: bundles the hub and the agent as their images have them. A bundle starts in a third of the
 * processor time that the sources take, and the tests of a run start hundreds.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleScripts } from "@flotilla/local/images";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder with `hub` and `agent`, each as `/opt/flotilla` of its image. */
    readonly programBundles: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-programs-"));
  await Promise.all(
    (["hub", "agent"] as const).map((name) => bundleScripts(name, join(dir, name))),
  );
  project.provide("programBundles", dir);
  return () => rm(dir, { recursive: true, force: true });
}
