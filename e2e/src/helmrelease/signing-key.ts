/** A key of GPG that commits are signed with. */
import { mkdir } from "node:fs/promises";
import { requireProgram, runProgram } from "@flotilla/shared/source/git/testing";
import { afterAll } from "vitest";

export interface SigningKey {
  /** The program, for `gpg.program` of Git. */
  readonly gpg: string;
  readonly publicKey: string;
  /** For commits. */
  readonly signature: {
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
}

const user = "signer@example.com";

/** In a new folder `home`; its agent ends with the tests of the file. */
export async function createSigningKey(home: string): Promise<SigningKey> {
  await mkdir(home, { mode: 0o700 });
  const gpg = requireProgram("gpg", "gnupg");
  const env = { GNUPGHOME: home };
  const batch = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""];
  const key = ["--quick-gen-key", user, "ed25519", "sign", "never"];
  await runProgram(gpg, [...batch, ...key], { env });
  afterAll(() => runProgram("/usr/bin/gpgconf", ["--kill", "all"], { env }));
  const publicKey = await runProgram(gpg, ["--armor", "--export", user], { env });
  return { gpg, publicKey, signature: { args: [`--gpg-sign=${user}`], env } };
}
