/** Runs once before the tests that start programs: provides these. */
import {
  ensureBinaries,
  ensureDebianPrograms,
  plainProgress,
  toolNames,
} from "@flotilla/local/binaries";

export async function setup(): Promise<void> {
  const { stderr } = process;
  // First: it takes seconds, and says at once what a machine lacks.
  await ensureDebianPrograms({ write: (text) => stderr.write(text) });
  await ensureBinaries(toolNames, { progress: plainProgress(stderr) });
}
