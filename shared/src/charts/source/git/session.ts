/**
 * One use of a repository: a directory with the files of its credentials (mode 0600), the tunnel to its server, and runs of
 * git in it. Everything is gone when it is disposed.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getCACertificates } from "node:tls";
import { AppError } from "../../../runtime/errors/index.ts";
import { chartErrors, type RepositoryAccess } from "../index.ts";
import { describeNetworkFailure, EgressDenied } from "../transport/index.ts";
import type { Dial, GitProxy } from "./dial.ts";
import { gitErrors } from "./errors.ts";
import { describeLimit, gitError } from "./git-error.ts";
import { addressForGit, httpSettings, parseRemote, type Remote, sshConfig } from "./remote.ts";
import type { Run, RunProgram, RunResult } from "./run-git.ts";
import { openTunnel, type Tunnel, type TunnelProblem } from "./tunnel.ts";

export interface SessionDeps {
  /** Paths of the programs. */
  readonly git: string;
  readonly ssh: string;
  /** For temporary directories. */
  readonly dir: string;
  readonly dial: Dial;
  readonly run: RunProgram;
  /** The administrator's proxy for an address. */
  readonly proxyFor: (url: URL) => GitProxy | undefined;
  readonly connectTimeoutMs: number;
  readonly userAgent: string;
}

export interface SessionOptions {
  readonly signal: AbortSignal;
  /** From the server. */
  readonly maxBytes: number;
}

export interface Session extends AsyncDisposable {
  readonly remote: Remote;
  /** Files of the session; the repository is `repo.git` in it. */
  readonly dir: string;
  readonly receivedBytes: number;
  /** Runs git. Throws the error of a failure; `what` says what is done, for its message. */
  git(what: string, args: readonly string[], options?: GitOptions): Promise<RunResult>;
  /** The error of a run that failed, from what git printed. */
  errorOf(what: string, stderr: string): AppError;
}

export interface GitOptions extends Pick<Run, "input" | "maxOutputBytes" | "read"> {
  /** Resolves also when git fails for a reason that the tunnel does not know. */
  readonly mayFail?: boolean;
}

export async function openSession(
  deps: SessionDeps,
  url: string,
  access: RepositoryAccess,
  { signal, maxBytes }: SessionOptions,
): Promise<Session> {
  const remote = parseRemote(url);
  if (remote.isSsh && access.ssh === undefined)
    throw new AppError(
      gitErrors.GIT_SECRET_INVALID,
      `${remote.description} needs a Secret with the keys identity and known_hosts`,
    );
  const proxy: GitProxy | undefined =
    access.proxy === undefined ? deps.proxyFor(remote.url) : { ...access.proxy, isTrusted: false };
  await mkdir(deps.dir, { recursive: true, mode: 0o700 });
  const dir = await mkdtemp(join(deps.dir, "git-"));
  let tunnel: Tunnel | undefined;

  async function dispose(): Promise<void> {
    await tunnel?.[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  }

  try {
    const opened = await openTunnel({
      mode: remote.isSsh ? "forward" : "socks",
      target: remote.endpoint,
      dial: (to) => deps.dial(to, proxy),
      maxBytes,
    });
    tunnel = opened;
    const environment = remote.isSsh
      ? await sshEnvironment(dir, remote, access, opened, deps)
      : await httpEnvironment(dir, remote, access, opened, deps);
    const env = {
      ...isolated(dir),
      ...environment,
      GIT_ALLOW_PROTOCOL: remote.url.protocol.slice(0, -1),
    };
    const repo = join(dir, "repo.git");
    const init = await deps.run({
      program: deps.git,
      args: ["init", "--bare", "--quiet", "--template=", repo],
      env,
      cwd: dir,
      signal,
    });
    const showsResponses = access.showsResponses === true;
    const errorOf = (what: string, stderr: string): AppError =>
      gitError(`${what} of ${remote.description}`, stderr, { showsResponses });
    if (init.code !== 0) throw errorOf("create a repository", init.stderr);
    const address = addressForGit(remote, access);
    await writeFile(join(repo, "config"), repositoryConfig(address), { mode: 0o600 });

    return {
      remote,
      dir,
      errorOf,
      get receivedBytes() {
        return opened.receivedBytes;
      },
      async git(what, args, { mayFail = false, ...options } = {}) {
        let result: RunResult;
        try {
          result = await deps.run({ program: deps.git, args, env, cwd: repo, signal, ...options });
        } catch (thrown) {
          throw tunnelError(what, remote, maxBytes, opened.problem) ?? thrown;
        }
        if (result.code === 0) return result;
        const problem = tunnelError(what, remote, maxBytes, opened.problem);
        if (problem !== undefined) throw problem;
        if (mayFail) return result;
        throw errorOf(what, result.stderr);
      },
      [Symbol.asyncDispose]: dispose,
    };
  } catch (thrown) {
    await dispose();
    throw thrown;
  }
}

/** Nothing of the machine's and of users' settings counts, and no program but git's own runs. */
function isolated(home: string): Readonly<Record<string, string>> {
  return {
    HOME: home,
    XDG_CONFIG_HOME: home,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LFS_SKIP_SMUDGE: "1",
  };
}

function repositoryConfig(address: string): string {
  const quoted = address.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return [
    "[core]",
    "repositoryformatversion = 0",
    "bare = true",
    "hooksPath = /dev/null",
    "[protocol]",
    "version = 2",
    '[remote "origin"]',
    `url = "${quoted}"`,
    "",
  ].join("\n");
}

/** Settings of git in the environment: no other program sees them, unlike arguments. */
function configEnvironment(
  settings: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const common = {
    "credential.helper": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "transfer.unpackLimit": "1",
    "pack.threads": "1",
    "submodule.recurse": "false",
    "advice.detachedHead": "false",
  };
  const entries = Object.entries({ ...common, ...settings });
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(entries.length)],
    ...entries.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]) as Readonly<Record<string, string>>;
}

async function httpEnvironment(
  dir: string,
  remote: Remote,
  access: RepositoryAccess,
  tunnel: Tunnel,
  deps: SessionDeps,
): Promise<Readonly<Record<string, string>>> {
  const ca = join(dir, "ca.pem");
  const authorities = [...getCACertificates("default"), access.caPem ?? ""];
  await writeSecret(ca, authorities.map(withNewline).join(""));
  const { clientCertificate } = access;
  const files = { cert: join(dir, "client.crt"), key: join(dir, "client.key") };
  if (clientCertificate !== undefined) {
    await writeSecret(files.cert, withNewline(clientCertificate.certPem));
    await writeSecret(files.key, withNewline(clientCertificate.keyPem));
  }
  return configEnvironment({
    ...httpSettings(remote, access, {
      ca,
      clientCertificate: clientCertificate === undefined ? undefined : files,
    }),
    "http.proxy": `socks5h://${tunnel.username}:${tunnel.password}@127.0.0.1:${tunnel.port}`,
    "http.followRedirects": "initial",
    "http.userAgent": deps.userAgent,
  });
}

async function sshEnvironment(
  dir: string,
  remote: Remote,
  access: RepositoryAccess,
  tunnel: Tunnel,
  deps: SessionDeps,
): Promise<Readonly<Record<string, string>>> {
  const { identityPem = "", knownHosts = "", passphrase } = access.ssh ?? {};
  const identityFile = join(dir, "identity");
  const knownHostsFile = join(dir, "known_hosts");
  const config = join(dir, "ssh_config");
  const command = join(dir, "ssh");
  await writeSecret(identityFile, withNewline(identityPem));
  await writeSecret(knownHostsFile, withNewline(knownHosts));
  await writeSecret(
    config,
    sshConfig(remote, {
      tunnelPort: tunnel.port,
      identityFile,
      knownHostsFile,
      connectTimeoutMs: deps.connectTimeoutMs,
      asksPassphrase: passphrase !== undefined,
    }),
  );
  // git runs one program, and an image has no shell for one with arguments.
  await writeProgram(
    command,
    `require("node:child_process").spawn(${JSON.stringify(deps.ssh)}, ["-F", ${JSON.stringify(config)}, ...process.argv.slice(2)], { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 255));`,
  );
  const askpass = join(dir, "askpass");
  if (passphrase !== undefined) {
    const file = join(dir, "passphrase");
    await writeSecret(file, passphrase.replace(/\n$/, ""));
    await writeProgram(
      askpass,
      `process.stdout.write(require("node:fs").readFileSync(${JSON.stringify(file)}));`,
    );
  }
  return {
    ...configEnvironment({}),
    GIT_SSH: command,
    GIT_SSH_VARIANT: "ssh",
    ...(passphrase !== undefined && { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: "force" }),
  };
}

async function writeSecret(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
}

/** A script of Node: what runs here is sure to have it. */
async function writeProgram(path: string, script: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!${process.execPath}\n${script}\n`, { mode: 0o700 });
  await chmod(path, 0o700);
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function tunnelError(
  what: string,
  { description, endpoint }: Remote,
  maxBytes: number,
  problem: TunnelProblem | undefined,
): AppError | undefined {
  const doing = `cannot ${what} of ${description}`;
  switch (problem?.kind) {
    case undefined:
      return undefined;
    case "too-large":
      return new AppError(
        gitErrors.GIT_TOO_LARGE,
        `${doing}: the server sent more than the limit of ${describeLimit(maxBytes)}`,
      );
    case "other-host":
      return new AppError(
        gitErrors.GIT_UNREACHABLE,
        `${doing}: the server redirects to another host, ${problem.host}; write that host's address into spec.url`,
      );
    case "unreachable": {
      const denied = problem.thrown instanceof EgressDenied;
      return new AppError(
        denied ? chartErrors.EGRESS_DENIED : gitErrors.GIT_UNREACHABLE,
        `${doing}: ${endpoint.host}:${endpoint.port}: ${describeNetworkFailure(problem.thrown)}`,
      );
    }
  }
}
