/** Signatures of commits and annotated tags, by PGP keys (gpgv) or SSH keys (ssh-keygen), as Flux verifies them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../runtime/errors/index.ts";
import { gitErrors } from "./errors.ts";
import { fetchCommit } from "./fetch.ts";
import type { ResolvedReference } from "./reference.ts";
import type { RunProgram } from "./run-git.ts";
import type { Session } from "./session.ts";
import { dearmor, type GitObjectKind, parseTag, splitSignature } from "./signature.ts";

/** `head` is Flux's older name of HEAD. */
export type SignatureMode = "head" | "HEAD" | "Tag" | "TagAndHEAD";

/** The texts of a Secret: keys that end in `.sshpub` are SSH keys, all others armored PGP keys. */
export type SignatureKeys = Readonly<Record<string, string>>;

interface VerifyDeps {
  readonly run: RunProgram;
  readonly programs: { readonly gpgv: string; readonly sshKeygen: string };
  readonly signal: AbortSignal;
}

/** What was verified, for people. Throws GIT_SIGNATURE_INVALID or GIT_TAG_SIGNATURE_INVALID. */
export async function verifySignatures(
  session: Session,
  { commit, tag }: ResolvedReference,
  { mode, keys }: { readonly mode: SignatureMode; readonly keys: SignatureKeys },
  deps: VerifyDeps,
): Promise<string> {
  const verified: string[] = [];
  if (mode === "Tag" || mode === "TagAndHEAD") {
    if (tag === undefined)
      throw invalid("tag", `spec.verify.mode ${mode} needs a tag, and spec.ref names none`);
    if (tag.object === undefined)
      throw invalid(
        "tag",
        `tag "${tag.name}" of ${session.remote.description} is not annotated, so it has no signature`,
      );
    const args = ["fetch", "--quiet", "--no-tags", "--depth=1", "--filter=tree:0", "--", "origin"];
    await session.git(`fetch tag "${tag.name}"`, [
      ...args,
      `refs/tags/${tag.name}:refs/tags/${tag.name}`,
    ]);
    const subject = `tag "${tag.name}"`;
    const payload = await verifyObject(
      session,
      { kind: "tag", id: tag.object, subject, keys },
      deps,
    );
    await verifyTag(session, payload, { name: tag.name, commit });
    verified.push(subject);
  }
  if (mode !== "Tag") {
    await fetchCommit(session, commit, "tree:0");
    const subject = `commit ${commit}`;
    await verifyObject(session, { kind: "commit", id: commit, subject, keys }, deps);
    verified.push(subject);
  }
  return verified.join(" and ");
}

/** Tags of tags. */
const maxTags = 8;

/**
 * That a signed tag is the one that was asked for, and is of the commit that is deployed. What the server lists is not signed:
 * it may name another commit beside a tag, or an old tag by a new name. The object of a tag is known by its hash, so one that is
 * a tag itself needs no signature.
 */
async function verifyTag(
  session: Session,
  payload: Buffer,
  { name, commit }: { readonly name: string; readonly commit: string },
): Promise<void> {
  const of = `tag "${name}" of ${session.remote.description}`;
  let tag = parseTag(payload);
  if (tag !== undefined && tag.name !== name)
    throw invalid("tag", `the signature of ${of} is of another tag, "${tag.name}"`);
  for (let count = 1; tag?.type === "tag" && count < maxTags; count++) {
    const { stdout } = await session.git(`read ${tag.object}`, ["cat-file", "tag", tag.object]);
    tag = parseTag(stdout);
  }
  if (tag?.type !== "commit") throw invalid("tag", `${of} is not of a commit`);
  if (tag.object !== commit)
    throw invalid(
      "tag",
      `${of} is of commit ${tag.object}, and the server lists commit ${commit} for it`,
    );
}

/** Resolves to what is signed. */
async function verifyObject(
  session: Session,
  what: {
    readonly kind: GitObjectKind;
    readonly id: string;
    readonly subject: string;
    readonly keys: SignatureKeys;
  },
  deps: VerifyDeps,
): Promise<Buffer> {
  const { kind, id, subject, keys } = what;
  const of = `${subject} of ${session.remote.description}`;
  const { stdout } = await session.git(`read ${subject}`, ["cat-file", kind, id]);
  const signed = splitSignature(stdout, kind);
  if (signed === undefined) throw invalid(kind, `${of} has no signature`);
  const isSsh = signed.signature.includes("BEGIN SSH SIGNATURE");
  const ours = Object.entries(keys).filter(([name]) => name.endsWith(".sshpub") === isSsh);
  if (ours.length === 0)
    throw invalid(
      kind,
      `${of} is signed by ${isSsh ? "an SSH" : "a PGP"} key, and the Secret has no key of that kind`,
    );
  const dir = await mkdtemp(join(session.dir, "verify-"));
  try {
    const payload = join(dir, "payload");
    const signature = join(dir, "signature");
    await writeFile(payload, signed.payload);
    await writeFile(signature, signed.signature);
    const isGood = isSsh
      ? await isSignedBySsh(dir, ours, signed, deps)
      : await isSignedByPgp(dir, { kind, keys: ours }, deps);
    if (!isGood)
      throw invalid(
        kind,
        `${of} is not signed by any of the keys ${ours.map(([name]) => name).join(", ")} of the Secret, or the key has expired`,
      );
    return signed.payload;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function isSignedByPgp(
  dir: string,
  {
    kind,
    keys,
  }: {
    readonly kind: GitObjectKind;
    readonly keys: readonly (readonly [name: string, text: string])[];
  },
  { run, programs, signal }: VerifyDeps,
): Promise<boolean> {
  for (const [name, text] of keys) {
    const ring = dearmor(text);
    if (ring === undefined)
      throw invalid(kind, `the key ${name} of the Secret is not an armored PGP public key`);
    const file = join(dir, "keys.gpg");
    await writeFile(file, ring);
    const { code, stdout } = await run({
      program: programs.gpgv,
      args: [
        "--homedir",
        dir,
        "--status-fd",
        "1",
        "--keyring",
        file,
        join(dir, "signature"),
        join(dir, "payload"),
      ],
      env: { HOME: dir, LC_ALL: "C", PATH: "/usr/local/bin:/usr/bin:/bin" },
      cwd: dir,
      signal,
    });
    const status = stdout.toString();
    const isBad = /^\[GNUPG:\] (?:BADSIG|ERRSIG|EXPSIG|EXPKEYSIG|REVKEYSIG|KEYREVOKED) /m.test(
      status,
    );
    if (code === 0 && !isBad && /^\[GNUPG:\] GOODSIG /m.test(status)) return true;
  }
  return false;
}

async function isSignedBySsh(
  dir: string,
  keys: readonly (readonly [name: string, text: string])[],
  { payload }: { readonly payload: Buffer },
  { run, programs, signal }: VerifyDeps,
): Promise<boolean> {
  const lines = keys.flatMap(([, text]) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /^(?:ssh|ecdsa|sk)-\S+ /.test(line))
      .map((line) => `git namespaces="git" ${line}\n`),
  );
  const file = join(dir, "allowed_signers");
  await writeFile(file, lines.join(""));
  const { code } = await run({
    program: programs.sshKeygen,
    args: ["-Y", "verify", "-f", file, "-I", "git", "-n", "git", "-s", join(dir, "signature")],
    env: { HOME: dir, LC_ALL: "C", PATH: "/usr/local/bin:/usr/bin:/bin" },
    cwd: dir,
    input: payload,
    signal,
  });
  return code === 0;
}

function invalid(kind: GitObjectKind, message: string): AppError {
  const { GIT_SIGNATURE_INVALID, GIT_TAG_SIGNATURE_INVALID } = gitErrors;
  return new AppError(kind === "tag" ? GIT_TAG_SIGNATURE_INVALID : GIT_SIGNATURE_INVALID, message);
}
