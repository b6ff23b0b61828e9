/** `npm run check`: all static checks, two in parallel. Runs every check even when one fails. */
import { availableParallelism } from "node:os";
import { run } from "./run.ts";

interface Part {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Compiles to a program, and takes a tenth of the time. The other one is what dependency-cruiser parses with. */
const tsc = "node_modules/typescript-native/bin/tsc";

/** The slowest first, so that the others run in parallel with it. */
const parts: readonly Part[] = [
  { name: "type-aware lint", command: "oxlint", args: ["--deny-warnings"] },
  { name: "types", command: "node", args: [tsc, "-b"] },
  { name: "layers", command: "node", args: ["scripts/layers/main.ts"] },
  { name: "format and fast lint", command: "biome", args: ["ci", "--colors=off", "."] },
  { name: "dead exports", command: "knip", args: ["--no-progress"] },
  {
    name: "phrases",
    command: "vitest",
    args: ["run", "--project=unit", "--reporter=dot", "scripts/phrases.test.ts"],
  },
  { name: "generated files", command: "node", args: ["scripts/generate.ts", "--check"] },
];

const failed: string[] = [];
const waiting = [...parts];
const lanes = Array.from({ length: Math.min(2, availableParallelism()) }, runWaiting);
await Promise.all(lanes);
if (failed.length > 0) {
  console.error(`npm run check failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}

async function runWaiting(): Promise<void> {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const started = performance.now();
    const { code, output } = await run(part.command, part.args);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (code !== 0) {
      failed.push(part.name);
      process.stderr.write(output);
    }
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${part.name} (${seconds} s)`);
  }
}
