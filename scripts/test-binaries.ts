/** Runs once before the tests on real clusters: their binaries are found or built. */
import { ensureBinaries, plainProgress, toolNames } from "@flotilla/local/binaries";

export async function setup(): Promise<void> {
  await ensureBinaries(toolNames, { progress: plainProgress(process.stderr) });
}
