import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createRepository, startGitHttpServer } from "@flotilla/shared/source/git/testing";
import { afterAll, describe, test } from "vitest";
import { downloadClient, ensureBinaries, publisherBases } from "../binaries/index.ts";
import { readLocalConfig } from "../config.ts";
import { testDir } from "../testing/index.ts";
import type { ProgramName } from "./bundle.ts";
import { elfArchitecture, writeImageTree } from "./image-tree.ts";

const run = promisify(execFile);
const config = readLocalConfig();
const tools = await ensureBinaries(["helm", "kustomize", "confine"]);
const architecture = process.arch === "arm64" ? "arm64" : "amd64";

async function treeOf(program: ProgramName, dir: string, programs = tools): Promise<string> {
  const client = downloadClient(config.proxy);
  try {
    await writeImageTree({
      program,
      architecture,
      dir,
      node: { path: process.execPath, version: process.versions.node },
      ...(program === "agent" && { tools: programs }),
      debian: {
        mirror: config.mirrors.debian ?? publisherBases.debian,
        cacheDir: join(config.cacheDir, "debian"),
        client,
      },
    });
    return dir;
  } finally {
    await client.close();
  }
}

/** Runs a program of the tree with the tree as its root, as any user may on Linux. */
async function runIn(tree: string, ...command: readonly string[]): Promise<string> {
  const root = process.getuid?.() === 0 ? [] : ["unshare", "--user", "--map-root-user"];
  const [program = "", ...args] = [...root, "chroot", tree, ...command];
  return (await run(program, args)).stdout;
}

/** Fails when a program of the client of Git, or a library of it, is missing in a tree. */
async function checkGitPrograms(tree: string): Promise<void> {
  // git opens them. A container gets the devices from its runtime.
  const devices = { "dev/null": Buffer.alloc(0), "dev/urandom": randomBytes(64 * 1024) };
  for (const [path, bytes] of Object.entries(devices)) await writeFile(join(tree, path), bytes);
  try {
    assert.match(await runIn(tree, "/usr/bin/git", "version"), /^git version 2\./);
    await assert.rejects(
      runIn(tree, "/usr/bin/git", "ls-remote", "https://127.0.0.1:1/app.git"),
      /unable to access .*: Failed to connect to 127\.0\.0\.1/,
    );
    await checkFetch(tree);
    assert.match(await runIn(tree, "/usr/bin/ssh", "-F", "none", "-G", "git@host"), /^user git$/m);
    await assert.rejects(
      runIn(tree, "/usr/bin/ssh-keygen", "-l", "-f", "/none"),
      /\/none: No such file or directory/,
    );
    assert.match(await runIn(tree, "/usr/bin/gpgv", "--version"), /^gpgv \(GnuPG\) 2\./);
  } finally {
    for (const path of Object.keys(devices)) await rm(join(tree, path));
  }
}

/** Fails when git of the tree needs more than its files to fetch a commit from a real server. */
async function checkFetch(tree: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "image-git-"));
  await using server = await startGitHttpServer(root);
  const repository = await createRepository(root, "app.git");
  const commit = await repository.commit({ "Chart.yaml": "name: app\n" });
  const inTree = "/tmp/app.git";
  const git = (...args: readonly string[]): Promise<string> =>
    runIn(tree, "/usr/bin/git", "-C", inTree, ...args);
  try {
    await runIn(tree, "/usr/bin/git", "init", "--bare", "--quiet", "--template=", inTree);
    await git("fetch", "--quiet", "--depth=1", server.url("app.git"), commit);
    assert.equal(await git("cat-file", "blob", `${commit}:Chart.yaml`), "name: app\n");
  } finally {
    await rm(join(tree, inTree), { recursive: true, force: true });
    await rm(root, { recursive: true, force: true });
  }
}

async function digestOf(tree: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(tree, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  for (const path of paths) {
    const entry = entries.find((each) => join(each.parentPath, each.name) === path);
    hash.update(path.slice(tree.length));
    if (entry?.isSymbolicLink()) hash.update(await readlink(path));
    else hash.update(String((await stat(path)).mode));
    if (entry?.isFile()) hash.update(await readFile(path));
  }
  return hash.digest("hex");
}

describe("the file tree of the agent's image", async () => {
  const tree = await treeOf("agent", join(await testDir({ onTestFinished: afterAll }), "agent"));

  test("runs the agent, Helm, kustomize and the launcher of the sandbox with nothing but its own files", async () => {
    const usage = await runIn(
      tree,
      "/usr/bin/node",
      "/opt/flotilla/bin/flotilla-agent.js",
      "--help",
    );
    const version = await runIn(tree, "/usr/bin/helm", "version", "--short");

    assert.match(usage, /^Usage: flotilla-agent \[flags\]\n/);
    assert.match(version, /^v\d+\.\d+\.\d+/);
    assert.match(await runIn(tree, "/usr/bin/kustomize", "version"), /^v\d+\.\d+\.\d+/);
    assert.match(await runIn(tree, "/usr/bin/confine", "--help"), /^Usage: confine \[flags\]/);
  });

  test("lists Debian's packages, Node, the packages of npm and the modules of the programs in Go", async () => {
    const sbom = await readFile(join(tree, "usr/share/sbom/flotilla.spdx.json"), "utf8");

    for (const url of [
      "pkg:deb/debian/libc6@",
      `pkg:generic/node@${process.versions.node}"`,
      "pkg:npm/undici@",
      "pkg:golang/k8s.io/client-go@",
      "pkg:golang/sigs.k8s.io/kustomize/kustomize/v5@",
      "pkg:golang/flotilla.local/tools/sandbox@",
    ])
      assert.ok(sbom.includes(url), url);
    assert.match(await readFile(join(tree, "var/lib/dpkg/status.d/libc6"), "utf8"), /^Version: /m);
  });

  test("has git, ssh and gpgv, which need no other file", async () => {
    await checkGitPrograms(tree);
  });

  test("has the certificate authorities that Helm trusts", async () => {
    const bundle = await readFile(join(tree, "etc/ssl/certs/ca-certificates.crt"), "utf8");

    assert.ok(bundle.split("-----BEGIN CERTIFICATE-----").length > 100);
  });

  test("has the same bytes when it is written again, from programs behind symbolic links", async () => {
    const dir = await testDir({ onTestFinished: afterAll });
    const linked = {
      helm: join(dir, "helm"),
      kustomize: join(dir, "kustomize"),
      confine: join(dir, "confine"),
    };
    for (const name of ["helm", "kustomize", "confine"] as const)
      await symlink(tools[name], linked[name]);
    const again = await treeOf("agent", join(dir, "again"), linked);

    assert.equal(await digestOf(again), await digestOf(tree));
  });

  test("has programs for its architecture", async () => {
    assert.equal(await elfArchitecture(join(tree, "usr/bin/node")), architecture);
    await assert.rejects(elfArchitecture(join(tree, "etc/passwd")), { code: "IMAGE_BUILD_FAILED" });
  });
});

test("the file tree of the hub's image runs the hub", async (t) => {
  const tree = await treeOf("hub", join(await testDir(t), "hub"));

  const usage = await runIn(tree, "/usr/bin/node", "/opt/flotilla/bin/flotilla-hub.js", "--help");

  assert.match(usage, /^Usage: flotilla-hub \[flags\]\n/);
  await checkGitPrograms(tree);
});
