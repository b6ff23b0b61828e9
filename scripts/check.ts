/** `npm run check`: everything that can be said of the code without running it. Every part runs, then the verdict. */
import { run } from "./run.ts";

const parts: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ["format and fast lint", "biome", ["ci", "--colors=off", "."]],
  ["types", "tsc", ["-b"]],
  ["type-aware lint", "eslint", ["--max-warnings=0", "."]],
  ["dead exports", "knip", ["--no-progress"]],
  ["generated files", "node", ["scripts/generate.ts", "--check"]],
];

const failed: string[] = [];
for (const [name, command, args] of parts) {
  const started = performance.now();
  const code = await run(command, args);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`npm run check failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
