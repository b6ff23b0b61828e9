import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { accessToGit, createGitClient, type SignatureKeys, type SignatureMode } from "./index.ts";
import {
  createRepository,
  type GitHttpServer,
  requireProgram,
  runProgram,
  startGitHttpServer,
  type TestRepository,
} from "./testing/index.ts";

const timeoutMs = 20_000;
let root: string;
let server: GitHttpServer;
let pgp: string;
let otherPgp: string;
let expiredPgp: string;
let sshKey: string;
let otherSsh: string;
let repository: TestRepository;
let home: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "git-sign-"));
  home = join(root, ".gnupg");
  await mkdir(home, { mode: 0o700 });
  const gpg = requireProgram("gpg", "gnupg");
  requireProgram("gpgv", "gpgv");
  const env = { GNUPGHOME: home };
  const make = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""];
  const old = ["--faked-system-time", "20250101T000000"];
  for (const [name, args, life] of [
    ["signer", [], "never"],
    ["other", [], "never"],
    ["expired", old, "1d"],
  ] as const)
    await runProgram(
      gpg,
      [...args, ...make, "--quick-gen-key", `${name}@example.com`, "ed25519", "sign", life],
      { env },
    );
  const exported = (name: string): Promise<string> =>
    runProgram(gpg, ["--armor", "--export", `${name}@example.com`], { env });
  pgp = await exported("signer");
  otherPgp = await exported("other");
  expiredPgp = await exported("expired");
  const keygen = requireProgram("ssh-keygen", "openssh-client");
  for (const name of ["signer", "other"])
    await runProgram(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", join(root, `.${name}`)]);
  sshKey = await readFile(join(root, ".signer.pub"), "utf8");
  otherSsh = await readFile(join(root, ".other.pub"), "utf8");
  server = await startGitHttpServer(root);
  repository = await createRepository(root, "app.git");
  await repository.git("config", "gpg.program", gpg);
  const sign = { args: ["--gpg-sign=signer@example.com"], env };
  await repository.commit({ a: "pgp" }, { ...sign, branch: "pgp" });
  await repository.git("config", "gpg.format", "ssh");
  await repository.commit({ a: "ssh" }, { branch: "ssh", args: sshSign() });
  await tag("annotated-ssh", sshSign("-u"));
  await repository.commit({ a: "plain" }, { branch: "plain" });
  await tag("annotated", []);
  await repository.git("tag", "light");
  await tag("nested", sshSign("-u"), "annotated-ssh");
  await repository.git("tag", "v9.0.0", "annotated-ssh");
  await repository.git("push", "-q", "origin", "--tags");
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await runProgram("/usr/bin/gpgconf", ["--kill", "all"], { env: { GNUPGHOME: home } });
  await rm(root, { recursive: true, force: true });
});

function sshSign(option = "-S"): readonly string[] {
  const key = join(root, ".signer");
  return option === "-S" ? [`--gpg-sign=${key}`] : ["-u", key];
}

async function tag(name: string, args: readonly string[], of = "HEAD"): Promise<void> {
  await repository.git("tag", "-a", "-m", name, ...args, name, of);
}

async function verify(
  ref: { readonly branch?: string; readonly tag?: string },
  mode: SignatureMode,
  keys: SignatureKeys,
  at = server,
): Promise<string> {
  const url = at.url("app.git");
  const client = createGitClient({
    dir: join(root, ".tmp"),
    userAgent: "test",
    egress: { allowLoopback: true },
  });
  const request = { access: accessToGit(url), timeoutMs };
  const found = await client.resolve(url, ref, request);
  return await client.verify({ url, ...found }, { mode, keys }, request);
}

describe("a signature is accepted", () => {
  test("of a commit by a PGP key of the Secret", async () => {
    const keys = { "other.asc": otherPgp, "signer.asc": pgp };

    assert.match(await verify({ branch: "pgp" }, "HEAD", keys), /^commit [0-9a-f]{40}$/);
  });

  test("of a commit by an SSH key of the Secret", async () => {
    const keys = { "team.sshpub": `${otherSsh}${sshKey}`, "pgp.asc": pgp };

    assert.match(await verify({ branch: "ssh" }, "head", keys), /^commit/);
  });

  test("of a tag and of its commit", async () => {
    const keys = { "signer.sshpub": sshKey };

    assert.match(
      await verify({ tag: "annotated-ssh" }, "TagAndHEAD", keys),
      /^tag "annotated-ssh" and commit/,
    );
  });
});

test("of a tag that has a signed tag as its object", async () => {
  const keys = { "signer.sshpub": sshKey };

  assert.equal(await verify({ tag: "nested" }, "Tag", keys), 'tag "nested"');
});

test("a server that lists another commit for a signed tag is found out", async () => {
  const signed = await repository.git("rev-parse", "annotated-ssh^{commit}");
  const other = await repository.git("rev-parse", "plain");
  const peeled = new Map([[signed, other]]);
  await using liar = await startGitHttpServer(root, { peeled });
  const keys = { "signer.sshpub": sshKey };

  for (const name of ["annotated-ssh", "nested"])
    await assert.rejects(verify({ tag: name }, "Tag", keys, liar), {
      code: "GIT_TAG_SIGNATURE_INVALID",
      message: `tag "${name}" of ${liar.url("app.git")} is of commit ${signed}, and the server lists commit ${other} for it`,
    });
});

test("a signed tag under another name is refused", async () => {
  const keys = { "signer.sshpub": sshKey };

  for (const mode of ["Tag", "TagAndHEAD"] as const)
    await assert.rejects(verify({ tag: "v9.0.0" }, mode, keys), {
      code: "GIT_TAG_SIGNATURE_INVALID",
      message: `the signature of tag "v9.0.0" of ${server.url("app.git")} is of another tag, "annotated-ssh"`,
    });
});

describe("a signature is refused", () => {
  const cases: readonly (readonly [
    string,
    { readonly branch?: string; readonly tag?: string },
    SignatureMode,
    () => SignatureKeys,
    RegExp,
  ])[] = [
    ["of no key", { branch: "plain" }, "HEAD", () => ({ a: pgp }), /has no signature/],
    [
      "of another PGP key",
      { branch: "pgp" },
      "HEAD",
      () => ({ "a.asc": otherPgp, "b.asc": expiredPgp }),
      /is not signed by any of the keys a.asc, b.asc/,
    ],
    [
      "of another SSH key",
      { branch: "ssh" },
      "HEAD",
      () => ({ "a.sshpub": otherSsh }),
      /is not signed by any of the keys a.sshpub/,
    ],
    [
      "of another kind of key",
      { branch: "ssh" },
      "HEAD",
      () => ({ a: pgp }),
      /is signed by an SSH key, and the Secret has no key of that kind/,
    ],
    ["of a tag without one", { tag: "annotated" }, "Tag", () => ({ a: pgp }), /has no signature/],
    ["of a light tag", { tag: "light" }, "Tag", () => ({ a: pgp }), /is not annotated/],
    ["of no tag", { branch: "pgp" }, "Tag", () => ({ a: pgp }), /spec.ref names none/],
    [
      "by a key that is none",
      { branch: "pgp" },
      "HEAD",
      () => ({ a: "x" }),
      /the key a of the Secret is not an armored PGP public key/,
    ],
  ];
  for (const [name, ref, mode, keys, message] of cases)
    test(name, async () => {
      await assert.rejects(verify(ref, mode, keys()), {
        code: mode === "Tag" ? "GIT_TAG_SIGNATURE_INVALID" : "GIT_SIGNATURE_INVALID",
        message,
      });
    });
});
