#!/usr/bin/env node
// The `flotilla` command. Its code is TypeScript that Node 24 runs without a build; an older Node starts the Node of
// node_modules instead.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { constants, homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= 24) {
  // The next command starts in half the time. Node would run what others put into its default, the temporary folder.
  // The folder is that of local/src/config.ts, which cannot be loaded before the cache is there.
  const { FLOTILLA_CACHE, XDG_CACHE_HOME } = process.env;
  const cache = FLOTILLA_CACHE || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "flotilla");
  module.enableCompileCache(join(cache, "compile"));
  const { run } = await import(main);
  await run(process.argv.slice(2));
} else {
  const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  if (!existsSync(node)) {
    console.error(
      `flotilla needs Node 24, this is Node ${process.versions.node}; run \`npm install\` in the project, which installs it`,
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) =>
    process.exit(code ?? (signal === null ? 1 : 128 + constants.signals[signal])),
  );
}
