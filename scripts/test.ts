/**
 * `npm test`: all tests. Those beside the code first, then those of the whole on real clusters, whose binaries are
 * found or built before. Arguments choose files: `npm test -- shared/src/version`. Random questions are the same ones in
 * every run; `FLOTILLA_SEED` asks others, and `FLOTILLA_SEED=random` new ones each time.
 */
import { globSync } from "node:fs";
import { ensureBinaries, toolNames } from "@flotilla/local/binaries/ensure-binaries.ts";
import { plainProgress } from "@flotilla/local/binaries/plain-progress.ts";
import { root, run } from "./run.ts";

const wanted = process.argv.slice(2);
const chosen = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (path) => path.includes("node_modules") })
    .filter((path) => wanted.length === 0 || wanted.some((part) => path.includes(part)))
    .sort();

const beside = chosen("{proto,shared,hub,agent,local,cli,scripts}/**/*.test.ts");
const whole = chosen("e2e/src/**/*.test.ts");

process.env["FLOTILLA_SEED"] = chosenSeed(process.env["FLOTILLA_SEED"]);
await ensureBinaries(toolNames, { progress: plainProgress(process.stderr) });
/** A test that hangs fails, by its name, instead of holding up everything. */
const patience = "--test-timeout=180000";
const seeded = "--import=./scripts/seed-properties.ts";

const codes: number[] = [];
// One process a file: nothing leaks from one into the next. Two at a time suit two cores.
for (const files of [beside, whole]) {
  if (files.length > 0)
    codes.push(await run("node", ["--test", "--test-concurrency=2", seeded, patience, ...files]));
}
process.exitCode = Math.max(0, ...codes);

function chosenSeed(asked = "1"): string {
  const seed = asked === "random" ? String(Math.floor(Math.random() * 2 ** 31)) : asked;
  if (!/^\d{1,10}$/.test(seed))
    throw new Error(`FLOTILLA_SEED=${asked}: it is a whole number, or "random"`);
  console.error(`FLOTILLA_SEED=${seed}`);
  return seed;
}
