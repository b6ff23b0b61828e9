/**
 * Provides the programs of tests that are neither published for all platforms nor built with Go: git, OpenSSH, GnuPG,
 * OpenSSL and Chromium without its windows. What is missing is installed from Debian's packages where that is possible.
 */
import { spawn } from "node:child_process";
import { access, constants, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import { type LocalConfig, readLocalConfig } from "../config.ts";
import { localErrors } from "../errors.ts";
import { withLock } from "../process/index.ts";

/** Each program with its package of Debian and Ubuntu. */
export const debianPrograms: Readonly<Record<string, string>> = {
  git: "git",
  ssh: "openssh-client",
  "ssh-keygen": "openssh-client",
  sshd: "openssh-server",
  gpg: "gpg",
  "gpg-agent": "gpg-agent",
  gpgv: "gpgv",
  openssl: "openssl",
  "chromium-headless-shell": "chromium-headless-shell",
};

/** Where programs are, also those that only root has on the PATH. */
const programDirs = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/** With this file, which says so to invoke-rc.d, packages start no service. */
const servicePolicy = "/usr/sbin/policy-rc.d";

export interface EnsureDebianOptions {
  /** Lines of progress. */
  readonly write: (text: string) => unknown;
  readonly config?: LocalConfig;
  /** Replaces the folders of programs, for tests. */
  readonly dirs?: readonly string[];
  /** Whether this process may install packages: as root only. */
  readonly isRoot?: boolean;
}

/** Resolves when all of them are there. Throws one BINARY_UNAVAILABLE that names the packages to install. */
export async function ensureDebianPrograms(options: EnsureDebianOptions): Promise<void> {
  const { config = readLocalConfig(), dirs = programDirs, write } = options;
  if ((await missingPrograms(dirs)).length === 0) return;
  // Several projects of tests, and several checkouts, may start at once.
  await withLock(join(config.cacheDir, "locks", "debian-programs"), async () => {
    const programs = await missingPrograms(dirs);
    if (programs.length === 0) return;
    const packages = packagesOf(programs);
    const reason = await whyNotInstalled(options.isRoot ?? process.getuid?.() === 0, dirs);
    if (reason !== undefined) throw unavailable(programs, reason);
    write(`${programs.join(", ")}: installing ${packages.join(", ")} with apt-get\n`);
    const failure = await install(packages, config);
    const missing = await missingPrograms(dirs);
    if (missing.length > 0) throw unavailable(missing, failure ?? "apt-get did not install them");
    write(`${programs.join(", ")}: ready\n`);
  });
}

/** The packages of programs, each once. Pure. */
export function packagesOf(programs: readonly string[]): readonly string[] {
  return [...new Set(programs.map((name) => debianPrograms[name] ?? name))];
}

async function missingPrograms(dirs: readonly string[]): Promise<readonly string[]> {
  const names = Object.keys(debianPrograms);
  const found = await Promise.all(names.map((name) => isInstalled(name, dirs)));
  return names.filter((_, at) => found[at] === false);
}

async function isInstalled(name: string, dirs: readonly string[]): Promise<boolean> {
  for (const dir of dirs) {
    const isExecutable = await access(join(dir, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return true;
  }
  return false;
}

async function whyNotInstalled(
  isRoot: boolean,
  dirs: readonly string[],
): Promise<string | undefined> {
  if (!(await isInstalled("apt-get", dirs))) return "this machine has no apt-get to install them";
  return isRoot ? undefined : "apt-get needs root to install them";
}

/** Resolves to why it failed: the last lines of apt-get. */
async function install(
  packages: readonly string[],
  { environment }: LocalConfig,
): Promise<string | undefined> {
  const env = { ...environment, DEBIAN_FRONTEND: "noninteractive" };
  // Another apt-get, as of unattended upgrades, may hold the lock.
  const common = ["-qq", "-o", "DPkg::Lock::Timeout=300"];
  const noServices = "#!/bin/sh\nexit 101\n";
  const isOurs = await writeFile(servicePolicy, noServices, { mode: 0o755, flag: "wx" }).then(
    () => true,
    // The machine has a policy of its own, which counts.
    () => false,
  );
  try {
    // Its lists may be old, or not there at all. When it fails, those that are there may do.
    const update = await aptGet([...common, "update"], env);
    const done = await aptGet(
      [...common, "install", "--yes", "--no-install-recommends", ...packages],
      env,
    );
    return done === undefined ? update : [update ?? [], done].flat().join("\n");
  } finally {
    if (isOurs) await rm(servicePolicy, { force: true });
  }
}

/** Resolves to the last lines of its output when it fails. */
function aptGet(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn("apt-get", args, { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const collect = (text: string): void => {
      output = (output + text).slice(-2_000);
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.once("error", (thrown) => resolve(`apt-get: ${thrown.message}`));
    child.once("close", (code) =>
      resolve(code === 0 ? undefined : `apt-get exited with code ${code}: ${output.trim()}`),
    );
  });
}

function unavailable(programs: readonly string[], reason: string): AppError {
  return new AppError(
    localErrors.BINARY_UNAVAILABLE,
    `find ${programs.join(", ")} in ${programDirs.join(", ")}: ${reason}; install them (Debian and Ubuntu: apt-get install --no-install-recommends ${packagesOf(programs).join(" ")})`,
  );
}
