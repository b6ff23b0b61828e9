// Runs before `npm start`, `npm test`, `npm run check` and `npm run bench`, on whatever Node the machine has (20 or
// newer) and before anything is installed: so plain JavaScript without dependencies.
//
// Installs the dependencies that package-lock.json names, when that has not been done yet or the lock has changed since.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const marker = join(root, "node_modules", ".flotilla-lock");

const major = Number(process.versions.node.split(".")[0]);
if (major < 20) {
  console.error(`Flotilla needs Node 20 or newer to start; this is Node ${process.versions.node}.`);
  process.exit(1);
}

const lock = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
if (existsSync(marker) && readFileSync(marker, "utf8") === lock) process.exit(0);

console.error("Installing dependencies (once, until package-lock.json changes) ...");
const npm = process.env.npm_execpath;
const [command, args] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
const installed = spawnSync(
  command,
  [...args, "ci", "--no-fund", "--no-audit", "--loglevel=error"],
  {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  },
);
if (installed.status !== 0) {
  console.error(
    "`npm ci` failed, so nothing was started; its output is above. Run the command again once the cause is mended.",
  );
  process.exit(installed.status ?? 1);
}
writeFileSync(marker, lock);
