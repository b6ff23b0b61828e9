/** What Helm reads from its standard input. */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * Opens an input that is complete before Helm starts: of a pipe, Helm would read no values if the agent is killed before it has
 * written them, and would install the chart with its defaults. Returns a file descriptor, to be closed once Helm has started. The
 * file has no name by the time that it has a content, so nothing of it stays on disk. `dir`: where it is made. Throws what the file
 * system says.
 */
export function openInput(dir: string, text: string): number {
  // Process ids start again in each container, and an agent that is killed here leaves an empty file.
  const path = join(dir, `helm-input-${randomUUID()}`);
  const writing = openSync(path, "wx", 0o600);
  try {
    // A descriptor of its own: it begins at the start.
    const reading = openSync(path, "r");
    unlinkSync(path);
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(writing, bytes, at);
    } catch (thrown) {
      closeSync(reading);
      throw thrown;
    }
    return reading;
  } finally {
    closeSync(writing);
  }
}
