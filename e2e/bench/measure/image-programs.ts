/** The programs as their images have them: bundled, with the flags of the Dockerfiles. */
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { readLocalConfig } from "@flotilla/local/config";
import { ensureImageTrees } from "@flotilla/local/images";
import { readLocalImages } from "@flotilla/local/pods";
import type { EntryFile, EntryFiles } from "../../src/harness/processes.ts";

export async function imagePrograms(): Promise<EntryFiles> {
  const tools = await ensureBinaries(["helm", "kustomize", "confine"]);
  const trees = await ensureImageTrees({ config: readLocalConfig(), tools, withDebian: false });
  const images = await readLocalImages(trees);
  const entryOf = (program: "hub" | "agent"): EntryFile => {
    const [, ...args] = images[`flotilla/${program}`]?.entrypoint ?? [];
    return { main: join(trees[program], args.at(-1) ?? ""), nodeFlags: args.slice(0, -1) };
  };
  return { hub: entryOf("hub"), agent: entryOf("agent") };
}
