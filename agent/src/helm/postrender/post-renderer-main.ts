/** The program of the plugin: reads what Helm has rendered, and prints what is to be installed. Its argument is the run's folder. */
import { text } from "node:stream/consumers";
import { messageOf } from "@flotilla/shared/errors";
import { objectsOfManifest, objectsOfRelease } from "./objects.ts";
import { render } from "./render.ts";
import { readRelease, readRendering, writeRenderError, writeUnreadable } from "./rendering.ts";

const [dir = ""] = process.argv.slice(2);
try {
  const manifest = await text(process.stdin);
  const release = await readRelease(dir);
  const objects = release === undefined ? objectsOfManifest(manifest) : objectsOfRelease(release);
  if (objects === undefined) {
    await writeUnreadable(dir);
    process.exitCode = 1;
  } else process.stdout.write(await render(objects, await readRendering(dir), dir));
} catch (thrown) {
  await writeRenderError(dir, messageOf(thrown));
  process.exitCode = 1;
}
