/** The error of a failed run of git, from what it printed. Pure. */
import { AppError, type ErrorKind } from "../../../runtime/errors/index.ts";
import { gitErrors } from "./errors.ts";

/** In English: git runs with LC_ALL=C. The first that matches counts. */
const rules: readonly (readonly [RegExp, ErrorKind, string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed|No \S+ host key is known/i,
    gitErrors.GIT_HOST_KEY,
    "the host key of the server is not in known_hosts of the Secret",
  ],
  [
    /Permission denied \(|Authentication failed|could not read (?:Username|Password)|The requested URL returned error: 40[13]|HTTP 40[13]|no mutual signature/i,
    gitErrors.GIT_UNAUTHORIZED,
    "the server denies access",
  ],
  [
    /Load key .*(?:incorrect passphrase|error in libcrypto|invalid format)|bad passphrase/i,
    gitErrors.GIT_SECRET_INVALID,
    "the key `identity` of the Secret is not a private key, or `password` is not its passphrase",
  ],
  [
    /not our ref|does not allow request for unadvertised object|couldn't find remote ref/i,
    gitErrors.GIT_COMMIT_NOT_FOUND,
    "the server does not have this commit any more",
  ],
  [
    /repository .* not found|does not appear to be a git repository|The requested URL returned error: 404|repository not exported/i,
    gitErrors.GIT_REPOSITORY_NOT_FOUND,
    "the server has no such repository",
  ],
  [/certificate|SSL|TLS|gnutls/i, gitErrors.GIT_UNREACHABLE, "the connection by TLS failed"],
  [
    /Could not resolve|Failed to connect|Connection (?:refused|timed out|reset|closed)|early EOF|hung up|RPC failed|returned error: 5\d\d/i,
    gitErrors.GIT_UNREACHABLE,
    "the server did not complete its response",
  ],
];

/**
 * `what` was done, and with which repository: `list the branches of https://…`. Without `showsResponses` what the server said is
 * left out: of an address that is an internal service git prints the body of its response.
 */
export function gitError(
  what: string,
  stderr: string,
  { showsResponses }: { readonly showsResponses: boolean },
): AppError {
  const [, kind, sentence] = rules.find(([pattern]) => pattern.test(stderr)) ?? [
    undefined,
    gitErrors.GIT_FAILED,
    undefined,
  ];
  const printed = lastLines(stderr, showsResponses);
  const said = sentence === undefined ? "" : `: ${sentence}`;
  return new AppError(kind, `cannot ${what}${said}${printed === "" ? "" : ` (git: ${printed})`}`);
}

/** Whether the server refuses an object that no reference names, which old servers do. */
export function refusesObjects(stderr: string): boolean {
  return /does not allow request for unadvertised object|unadvertised object/i.test(stderr);
}

const maxPrinted = 400;

/** The lines that say what failed, in one; without progress and advice. */
function lastLines(stderr: string, showsResponses: boolean): string {
  const lines = (showsResponses ? stderr : withoutResponses(stderr))
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(
      (line) =>
        line !== "" &&
        !/^(?:hint:|@@|Warning: Permanently|and the repository|Please make sure)/.test(line),
    );
  const important = lines.filter((line) =>
    /^(?:fatal|error|remote|ssh|Load|Host|ERR)|denied/i.test(line),
  );
  const text = (important.length > 0 ? important : lines.slice(-2)).join("; ");
  return text.length > maxPrinted ? `${text.slice(0, maxPrinted)}…` : text;
}

/** Without what the server said: lines of its side band and of bodies, and the text of its error packet. */
function withoutResponses(stderr: string): string {
  return stderr
    .split(/[\r\n]+/)
    .filter((line) => !/^\s*remote:/.test(line))
    .map((line) => line.replace(/\b(remote error):.*$/, "$1"))
    .join("\n");
}

/** A limit of size, for a message. */
export function describeLimit(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes >= 1 ? `${Math.round(mebibytes)} MiB` : `${bytes} bytes`;
}
