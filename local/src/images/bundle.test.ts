import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished, test } from "vitest";
import { testDir } from "../testing/index.ts";
import { bundleScripts, programs } from "./bundle.ts";

const run = promisify(execFile);

/** A module that prints what Node has loaded of its own, once the program ends. */
const printsModules =
  'data:text/javascript,process.on("exit", () => console.error(process.moduleLoadList.join("\\n")))';

test.each(programs)(
  "%s starts without the HTTP client that Node has besides its own",
  async (program) => {
    const dir = await testDir({ onTestFinished });
    await bundleScripts(program, dir);

    const { stdout, stderr } = await run(process.execPath, [
      `--import=${printsModules}`,
      join(dir, "bin", `flotilla-${program}.js`),
      "--help",
    ]);

    assert.match(stdout, new RegExp(`flotilla-${program}|Usage|--`));
    assert.match(stderr, /^NativeModule http$/m);
    assert.doesNotMatch(stderr, /undici/);
  },
);
