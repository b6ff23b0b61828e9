/** Checks of the Go code of this repository, by Go itself. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, test } from "vitest";
import { readLocalConfig } from "../config.ts";
import { toolNames, tools } from "./tools.ts";

const { environment } = readLocalConfig();

/** Throws with what was printed if the command fails. */
async function run(dir: string, ...[program = "", ...args]: readonly string[]): Promise<string> {
  const env = { ...environment, CGO_ENABLED: "0", GOWORK: "off" };
  return (await promisify(execFile)(program, args, { cwd: dir, env })).stdout;
}

for (const name of toolNames) {
  const { dir, module } = tools[name].build;
  if (module !== undefined) continue;
  describe(name, () => {
    test("is formatted", async () => {
      assert.equal(await run(dir, "gofmt", "-l", "."), "");
    });

    test("passes go vet on Linux and macOS", async () => {
      await run(dir, "go", "vet", "./...");
      await run(dir, "env", "GOOS=darwin", "go", "vet", "./...");
    });

    test("passes its tests", async () => {
      await run(dir, "go", "test", "./...");
    });
  });
}
