/** Repositories of a test: bare ones in a directory, which the servers beside this file serve. */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { requireProgram, runProgram } from "./programs.ts";

export interface TestRepository {
  /** The name of the bare repository, below the root of the servers: `team/app.git`. */
  readonly name: string;
  readonly bareDir: string;
  /** Commits files (undefined: removed; `link:` and a target: a symbolic link), pushes the branch, and resolves to the commit. */
  commit(
    files: Readonly<Record<string, string | Uint8Array | undefined>>,
    options?: CommitOptions,
  ): Promise<string>;
  /** Runs git in the working directory. */
  git(...args: readonly string[]): Promise<string>;
}

export interface CommitOptions {
  /** Default: `main`; created when it is not there. */
  readonly branch?: string;
  readonly message?: string;
  /** Replaces the last commit, and pushes by force. */
  readonly amend?: boolean;
  /** Further arguments of `git commit`, as for a signature. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `root`: the directory of the servers. */
export async function createRepository(root: string, name: string): Promise<TestRepository> {
  const program = requireProgram("git", "git");
  const bareDir = join(root, name);
  const work = join(root, `.work-${name.replaceAll("/", "-")}`);
  const env = {
    HOME: root,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Test",
    GIT_AUTHOR_EMAIL: "test@example.com",
    GIT_COMMITTER_NAME: "Test",
    GIT_COMMITTER_EMAIL: "test@example.com",
  };
  const git = (...args: readonly string[]): Promise<string> =>
    runProgram(program, args, { cwd: work, env });
  await mkdir(work, { recursive: true });
  await runProgram(program, ["init", "--bare", "--quiet", "--initial-branch=main", bareDir], {
    env,
  });
  await runProgram(program, ["-C", bareDir, "config", "uploadpack.allowFilter", "true"], { env });
  await git("init", "--quiet", "--initial-branch=main", ".");
  await git("remote", "add", "origin", bareDir);

  return {
    name,
    bareDir,
    git,
    async commit(files, options = {}) {
      const { branch = "main", message = "change", amend = false, args = [] } = options;
      const current = await git("symbolic-ref", "--short", "HEAD");
      if (current !== branch)
        await git("checkout", "--quiet", branch).catch(() => git("checkout", "-q", "-b", branch));
      for (const [path, content] of Object.entries(files)) {
        const file = join(work, path);
        await rm(file, { force: true, recursive: true });
        if (content === undefined) continue;
        await mkdir(dirname(file), { recursive: true });
        if (typeof content === "string" && content.startsWith("link:"))
          await symlink(content.slice("link:".length), file);
        else await writeFile(file, content);
      }
      await git("add", "--all", "--force");
      const options_ = [...(amend ? ["--amend"] : []), ...args];
      await runProgram(
        program,
        ["commit", "--quiet", "--allow-empty", "--message", message, ...options_],
        { cwd: work, env: { ...env, ...options.env } },
      );
      await git("push", "--quiet", "--force", "origin", `HEAD:refs/heads/${branch}`);
      return await git("rev-parse", "HEAD");
    },
  };
}
