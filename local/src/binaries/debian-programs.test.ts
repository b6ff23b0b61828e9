import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "vitest";
import { readLocalConfig } from "../config.ts";
import { testDir } from "../testing/index.ts";
import { debianPrograms, ensureDebianPrograms, packagesOf } from "./debian-programs.ts";

describe("the programs of tests of Git", () => {
  test("are in Debian's packages, each of which is installed once", () => {
    assert.deepEqual(packagesOf(["git", "ssh", "ssh-keygen", "gpgv"]), [
      "git",
      "openssh-client",
      "gpgv",
    ]);
  });

  test("are not installed when all are there", async (t) => {
    const { config, dir } = await machine(t, Object.keys(debianPrograms));
    const lines: string[] = [];

    await ensureDebianPrograms({
      ...{ config, dirs: [dir], isRoot: true },
      write: (text) => lines.push(text),
    });

    assert.deepEqual(lines, []);
  });

  const refused: readonly (readonly [
    why: string,
    programs: readonly string[],
    isRoot: boolean,
    message: RegExp,
  ])[] = [
    [
      "without apt-get",
      ["git", "openssl", "ssh", "ssh-keygen", "chromium-headless-shell"],
      true,
      /^find sshd, gpg, gpg-agent, gpgv in .*: this machine has no apt-get to install them; install them \(Debian and Ubuntu: apt-get install --no-install-recommends openssh-server gpg gpg-agent gpgv\)$/,
    ],
    [
      "without root",
      [
        "apt-get",
        "git",
        "openssl",
        "ssh",
        "ssh-keygen",
        "gpg",
        "gpg-agent",
        "chromium-headless-shell",
      ],
      false,
      /^find sshd, gpgv in .*: apt-get needs root to install them; .* openssh-server gpgv\)$/,
    ],
  ];
  for (const [why, programs, isRoot, message] of refused) {
    test(`are named with their packages when they are missing ${why}`, async (t) => {
      const { config, dir } = await machine(t, programs);

      await assert.rejects(
        ensureDebianPrograms({ config, dirs: [dir], isRoot, write: () => undefined }),
        { code: "BINARY_UNAVAILABLE", message },
      );
    });
  }
});

async function machine(
  t: Parameters<typeof testDir>[0],
  programs: readonly string[],
): Promise<{ readonly config: ReturnType<typeof readLocalConfig>; readonly dir: string }> {
  const root = await testDir(t);
  const dir = join(root, "bin");
  await mkdir(dir);
  for (const name of programs) await writeFile(join(dir, name), "#!/bin/sh\n", { mode: 0o755 });
  return { dir, config: readLocalConfig({ FLOTILLA_CACHE: root }) };
}
