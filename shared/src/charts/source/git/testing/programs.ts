/** Running the programs that tests of Git need: git, sshd, gpg, ssh-keygen. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The path of a program; throws with what to install when the machine does not have it. */
export function requireProgram(name: string, debianPackage: string): string {
  const dirs = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];
  for (const dir of dirs) {
    try {
      accessSync(`${dir}/${name}`, constants.X_OK);
      return `${dir}/${name}`;
    } catch {
      // The next one.
    }
  }
  throw new Error(
    `this test needs the program ${name}: install it (Debian: apt-get install ${debianPackage})`,
  );
}

/** Runs a program to its end and resolves to what it printed, without a final line end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const { stdout } = await run(program, args, {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...options.env },
  });
  return stdout.trim();
}
