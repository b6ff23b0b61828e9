/** Runs once before the tests on real clusters: their binaries are found or built. */
import { ensureBinaries, toolNames } from "@flotilla/local/binaries/ensure-binaries.ts";
import { plainProgress } from "@flotilla/local/binaries/plain-progress.ts";

export async function setup(): Promise<void> {
  await ensureBinaries(toolNames, { progress: plainProgress(process.stderr) });
}
