/** Repositories of a directory over SSH, by the real sshd of OpenSSH on a free port, as the user of the test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { connect as connectTcp, createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { requireProgram, runProgram } from "./programs.ts";

export interface SshServer extends AsyncDisposable {
  readonly port: number;
  readonly username: string;
  /** The private key that it accepts. */
  readonly identityPem: string;
  /** The same key, encrypted with `passphrase`. */
  readonly encryptedIdentityPem: string;
  readonly passphrase: string;
  /** Its line in known_hosts. */
  readonly knownHosts: string;
  url(name: string): string;
}

/** `dir`: of its keys. `root`: of the repositories. */
export async function startSshServer(dir: string, root: string): Promise<SshServer> {
  const sshd = requireProgram("sshd", "openssh-server");
  const keygen = requireProgram("ssh-keygen", "openssh-client");
  const passphrase = "correct horse";
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const keys = { host: join(dir, "host"), user: join(dir, "user"), encrypted: join(dir, "enc") };
  await runProgram(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", keys.host]);
  await runProgram(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", keys.user]);
  await runProgram(keygen, ["-q", "-t", "ed25519", "-N", passphrase, "-f", keys.encrypted]);
  const authorized = join(dir, "authorized_keys");
  const publicKeys = await Promise.all(
    [keys.user, keys.encrypted].map((key) => readFile(`${key}.pub`, "utf8")),
  );
  await writeFile(authorized, publicKeys.join(""), { mode: 0o600 });
  const port = await freePort();
  const config = join(dir, "sshd_config");
  await writeFile(
    config,
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${keys.host}`,
      `AuthorizedKeysFile ${authorized}`,
      `PidFile ${join(dir, "sshd.pid")}`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin prohibit-password",
      "LogLevel ERROR",
      "",
    ].join("\n"),
  );
  // As root sshd wants the directory of its privilege separation.
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  await chmod(dir, 0o700);
  const child = spawn(sshd, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  await untilListening(port, () => {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${errors}`);
  });
  const { username } = userInfo();
  const hostKey = (await readFile(`${keys.host}.pub`, "utf8")).split(" ").slice(0, 2).join(" ");

  return {
    port,
    username,
    identityPem: await readFile(keys.user, "utf8"),
    encryptedIdentityPem: await readFile(keys.encrypted, "utf8"),
    passphrase,
    knownHosts: `[127.0.0.1]:${port} ${hostKey}\n`,
    url: (name) => `ssh://${username}@127.0.0.1:${port}${join(root, name)}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

async function untilListening(port: number, check: () => void): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    check();
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connectTcp({ host: "127.0.0.1", port });
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    if (attempt > 200) throw new Error("sshd does not listen");
    await delay(25);
  }
}
