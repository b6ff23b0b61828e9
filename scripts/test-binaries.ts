/** Runs once before the tests on real clusters: provides their binaries. */
import { ensureBinaries, plainProgress, toolNames } from "@flotilla/local/binaries";

export async function setup(): Promise<void> {
  await ensureBinaries(toolNames, { progress: plainProgress(process.stderr) });
}
