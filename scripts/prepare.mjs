// Runs before `npm start`, `npm test`, `npm run check` and `npm run bench`: installs the dependencies of package-lock.json unless
// they are up to date. It runs with any Node from 20 on and before anything is installed, so it is plain JavaScript
// without dependencies.
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
  console.error("`npm ci` failed, see its output above. Fix the cause and run the command again.");
  process.exit(installed.status ?? 1);
}
writeFileSync(marker, lock);
