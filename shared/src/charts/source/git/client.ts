/** The client of Git repositories, by the programs git, ssh and gpgv. The hub resolves with it, and agents fetch. */
import { AppError, messageOf } from "../../../runtime/errors/index.ts";
import type { AccessSettings, GitTree, RepositoryAccess } from "../index.ts";
import type { EgressPolicy, ProxySettings, ResolveAll } from "../transport/index.ts";
import { type CheckoutTree, checkout } from "./checkout.ts";
import { createDial } from "./dial.ts";
import { environmentProxy } from "./environment-proxy.ts";
import { gitErrors } from "./errors.ts";
import { fetchCommit } from "./fetch.ts";
import { type FilesAt, type FoundFiles, type ReadContents, readFiles } from "./read-files.ts";
import {
  commitReference,
  type GitReference,
  listedRefs,
  parseRemoteRefs,
  type ResolvedReference,
  selectReference,
} from "./reference.ts";
import { parseRemote } from "./remote.ts";
import { createRunProgram, type ProcessControl } from "./run-git.ts";
import { openSession, type Session } from "./session.ts";
import { type SignatureKeys, type SignatureMode, verifySignatures } from "./verify.ts";

export interface GitLimits {
  /** From servers, for one checkout. Default: 512 MiB. */
  readonly maxReceivedBytes?: number;
  /** From the server, for listing references or reading one file. Default: 128 MiB. */
  readonly maxMetadataBytes?: number;
  /** The limit of all files of one checkout. Default: 512 MiB. */
  readonly maxBytes?: number;
  /** Default: 100,000. */
  readonly maxFiles?: number;
  /** Default: 64. */
  readonly maxSubmodules?: number;
}

export interface GitClientOptions {
  /** For temporary directories. */
  readonly dir: string;
  readonly userAgent: string;
  readonly egress: EgressPolicy;
  /** Default: names that are found by PATH. */
  readonly programs?: Partial<GitPrograms>;
  /** The administrator's proxies. */
  readonly proxy?: ProxySettings | undefined;
  readonly limits?: GitLimits;
  /** Limits of memory and processor time. */
  readonly processes?: ProcessControl;
  readonly connectTimeoutMs?: number;
  /** For tests; default: the system's. */
  readonly resolveAll?: ResolveAll;
}

export interface GitPrograms {
  readonly git: string;
  readonly ssh: string;
  readonly sshKeygen: string;
  readonly gpgv: string;
}

export interface GitRequest {
  readonly access: RepositoryAccess;
  /** For the whole request. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitClient {
  /** The commit that a reference means now. Throws GIT_REFERENCE_NOT_FOUND. */
  resolve(url: string, ref: GitReference, request: GitRequest): Promise<ResolvedReference>;
  /** Files of a commit, without all others. */
  readFiles<T>(at: FilesAt, request: GitRequest & ReadContents<T>): Promise<FoundFiles<T>>;
  /** Writes the files of a commit into `dir`, which is created. */
  checkout(tree: CheckoutTree, dir: string, request: GitRequest): Promise<void>;
  /** Resolves to who signed; throws GIT_SIGNATURE_INVALID or GIT_TAG_SIGNATURE_INVALID. */
  verify(
    at: Pick<GitTree, "url"> & ResolvedReference,
    signatures: { readonly mode: SignatureMode; readonly keys: SignatureKeys },
    request: GitRequest,
  ): Promise<string>;
}

const MiB = 1024 * 1024;
/** The limit of the list of references: some 200,000. */
const maxReferencesBytes = 16 * MiB;
/** Submodules of submodules. */
const maxDepth = 5;

/** The access to a Git repository; anonymous without settings. */
export function accessToGit(
  url: string,
  { remark: _, ...settings }: AccessSettings = {},
): RepositoryAccess {
  const { protocol, host } = parseRemote(url).url;
  return { ...settings, origin: `${protocol}//${host}` };
}

export function createGitClient(options: GitClientOptions): GitClient {
  const { limits = {}, connectTimeoutMs = 10_000 } = options;
  const { maxReceivedBytes = 512 * MiB, maxMetadataBytes = 128 * MiB } = limits;
  const run = createRunProgram(options.processes);
  const programs: GitPrograms = {
    git: "git",
    ssh: "ssh",
    sshKeygen: "ssh-keygen",
    gpgv: "gpgv",
    ...options.programs,
  };
  const deps = {
    git: programs.git,
    ssh: programs.ssh,
    dir: options.dir,
    dial: createDial({
      egress: options.egress,
      connectTimeoutMs,
      resolveAll: options.resolveAll,
    }),
    run,
    proxyFor: (url: URL) => environmentProxy(url, options.proxy),
    connectTimeoutMs,
    userAgent: options.userAgent,
  };

  /** Runs `work` until the time is over, and says so. */
  async function within<T>(
    url: string,
    { timeoutMs, signal }: GitRequest,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      return await work(signal === undefined ? limit : AbortSignal.any([signal, limit]));
    } catch (thrown) {
      if (signal?.aborted === true) throw thrown;
      if (limit.aborted && !(thrown instanceof AppError))
        throw new AppError(
          gitErrors.GIT_TIMEOUT,
          `${parseRemote(url).description} did not answer within ${timeoutMs / 1000} s`,
        );
      if (thrown instanceof AppError) throw thrown;
      throw new AppError(
        gitErrors.GIT_FAILED,
        `${parseRemote(url).description}: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
  }

  function metadataSession(
    url: string,
    { access }: GitRequest,
    signal: AbortSignal,
  ): Promise<Session> {
    return openSession(deps, url, access, { signal, maxBytes: maxMetadataBytes });
  }

  return {
    resolve: (url, ref, request) =>
      within(url, request, async (signal) => {
        const named = commitReference(ref);
        await using session = await metadataSession(url, request, signal);
        if (named !== undefined) {
          await fetchCommit(session, named.commit, "tree:0");
          return named;
        }
        const listed = listedRefs(ref);
        const only = listed === "heads" || listed === "tags" ? [`--${listed}`] : [];
        const args = ["ls-remote", "--quiet", ...only, "--", "origin"];
        const { stdout } = await session.git("list the references", args, {
          maxOutputBytes: maxReferencesBytes,
        });
        return selectReference(parseRemoteRefs(stdout.toString()), ref, session.remote.description);
      }),
    readFiles: (at, request) =>
      within(at.url, request, (signal) =>
        readFiles(
          {
            ...request,
            open: (url, access) => metadataSession(url, { ...request, access }, signal),
            maxDepth,
          },
          at,
          request.access,
        ),
      ),
    checkout: (tree, dir, request) =>
      within(tree.url, request, (signal) =>
        checkout(
          {
            open: (url, access, maxBytes) => openSession(deps, url, access, { signal, maxBytes }),
            limits: {
              maxReceivedBytes,
              maxBytes: limits.maxBytes ?? 512 * MiB,
              maxFiles: limits.maxFiles ?? 100_000,
              maxSubmodules: limits.maxSubmodules ?? 64,
              maxDepth,
            },
            dir: options.dir,
          },
          tree,
          request.access,
          dir,
        ),
      ),
    verify: ({ url, ...reference }, signatures, request) =>
      within(url, request, async (signal) => {
        await using session = await metadataSession(url, request, signal);
        return await verifySignatures(session, reference, signatures, { run, programs, signal });
      }),
  };
}
