/**
 * Follows docs/install.md on clusters without anything of Flotilla: runs the commands of its blocks, and looks at what a reader
 * would see.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readLocalConfig } from "@flotilla/local/config";
import { afterAll, expect, test } from "vitest";
import { commandsIn } from "../harness/flotilla-command.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const flotilla = await commandsIn({ onTestFinished: afterAll });
const guide = await readFile(join(root, "docs/install.md"), "utf8");

/** In an empty home, where the charts are as at the root of a clone. */
const home = dirname(flotilla.dir);
await symlink(join(root, "charts"), join(home, "charts"));

const start = /^npx flotilla up .*\n/m;
const preparation = `
set -euo pipefail
npx() { shift; ${process.execPath} ${root}/cli/bin/flotilla.js "$@"; }
${blocksOf("On one machine first").replaceAll(".flotilla/", `${flotilla.dir}/`)}
`;

/** The commands below a heading. */
function blocksOf(heading: string): string {
  const section = guide.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0];
  assert.ok(section !== undefined, heading);
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands).join("");
}

/** The output of the commands, run as in one shell with those before. */
async function follow(commands: string, isStart = false): Promise<string> {
  const prepared = isStart ? preparation : preparation.replace(start, "");
  const { stdout } = await run("bash", ["-c", `${prepared}\n${commands}`], {
    cwd: home,
    env: {
      HOME: home,
      PATH: process.env["PATH"],
      FLOTILLA_DIR: flotilla.dir,
      FLOTILLA_CACHE: readLocalConfig().cacheDir,
    },
  });
  return stdout;
}

// A test for each part, which has its own time.
test("leads to clusters without anything of Flotilla", async () => {
  await follow("", true);
});

test("leads to a hub that is ready", async () => {
  await follow(blocksOf("2. Install the hub"));
});

test("leads to an agent in each of two clusters", async () => {
  const clusters = await follow(blocksOf("3. Install an agent in each cluster"));

  expect(clusters).toMatch(/cluster-1 .*\n.*cluster-2 /);
});

test("leads to a HelmOp that is Ready on both, with agents that may only impersonate", async () => {
  await follow(blocksOf("4. Deploy a chart"));

  for (const cluster of ["cluster-1", "cluster-2"]) {
    const found = await follow(`
      kubectl --context ${cluster} --namespace shop get deployments --output name
      kubectl --context ${cluster} --namespace shop auth can-i list secrets \
        --as system:serviceaccount:flotilla-agent:flotilla-agent || true`);
    assert.equal(found, "deployment.apps/web\nno\n", cluster);
  }
});

test("leads back to clusters without releases and pods", async () => {
  await follow(blocksOf("Uninstall"));

  for (const cluster of ["hub", "cluster-1", "cluster-2"]) {
    // Helm does not wait for the pods, which end in their own time.
    const left = await follow(`
      kubectl --context ${cluster} wait pod --all --all-namespaces --for=delete --timeout=60s >&2 || true
      helm --kube-context ${cluster} list --all-namespaces --short
      kubectl --context ${cluster} get pods --all-namespaces --output name`);
    assert.equal(left, "", cluster);
  }
});
