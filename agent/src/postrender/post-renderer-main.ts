/** The program of the plugin: reads what Helm has rendered, and prints what is to be installed. Its argument is the run's folder. */
import { text } from "node:stream/consumers";
import { messageOf } from "@flotilla/shared/errors";
import { render } from "./render.ts";
import { readRendering, writeRenderError } from "./rendering.ts";

const [dir = ""] = process.argv.slice(2);
try {
  const manifest = await text(process.stdin);
  process.stdout.write(await render(manifest, await readRendering(dir), dir));
} catch (thrown) {
  await writeRenderError(dir, messageOf(thrown));
  process.exitCode = 1;
}
