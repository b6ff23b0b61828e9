/**
 * Why a Git repository cannot be read at the commit that a source asks for. Retryable are failures that a change on the server can
 * repair. No message has credentials.
 */
import { defineErrors } from "../../../runtime/errors/index.ts";

export const gitErrors = defineErrors({
  GIT_URL_INVALID: {
    retryable: false,
    help: "The address of the Git repository is not one with https, http or ssh, it has a password, which belongs into a Secret, or it has a query or a fragment.",
  },
  GIT_SECRET_INVALID: {
    retryable: false,
    help: "The Secret of the Git repository does not have what its address needs. The message names the key.",
  },
  GIT_UNAUTHORIZED: {
    retryable: true,
    help: "The Git server denies access. Check the Secret of the repository, and the permissions of its account.",
  },
  GIT_HOST_KEY: {
    retryable: true,
    help: "The SSH server has another host key than known_hosts in the Secret of the repository says. Update known_hosts if the server has a new key; otherwise something else answers for it.",
  },
  GIT_UNREACHABLE: {
    retryable: true,
    help: "The Git server cannot be reached, or its certificate is not trusted. The message says which. It is retried automatically.",
  },
  GIT_REPOSITORY_NOT_FOUND: {
    retryable: true,
    help: "The Git server has no such repository. Many servers say the same when the credentials are missing or may not read it.",
  },
  GIT_REFERENCE_NOT_FOUND: {
    retryable: true,
    help: "The repository does not have the branch, the tag, the reference or a version that spec.ref asks for. The message names it.",
  },
  GIT_COMMIT_NOT_FOUND: {
    retryable: true,
    help: "The server does not have the commit any more. Usually the branch was rewritten (forced push). The next reconciliation of the source finds its new commit.",
  },
  GIT_PATH_NOT_FOUND: {
    retryable: true,
    help: "The commit does not have the file or directory that the message names.",
  },
  GIT_TOO_LARGE: {
    retryable: true,
    help: "The repository exceeds a limit of size. Check out fewer directories (spec.sparseCheckout), ignore files (spec.ignore), or keep charts in a repository of their own.",
  },
  GIT_TIMEOUT: {
    retryable: true,
    help: "The Git server did not answer within spec.timeout. It is retried automatically.",
  },
  GIT_CONTENT_INVALID: {
    retryable: true,
    help: "The repository has something that is not written to disk: a path that leaves it or is too long, or a submodule that is not fetched. The message names it.",
  },
  GIT_SIGNATURE_INVALID: {
    retryable: true,
    help: "The commit has no signature of a key in the Secret of spec.verify. Sign it, or add the public key to the Secret.",
  },
  GIT_TAG_SIGNATURE_INVALID: {
    retryable: true,
    help: "The tag has no signature of a key in the Secret of spec.verify, or its signature is of another tag or of another commit than the server says. Sign the tag, or add the public key to the Secret; if it is signed, something on the server was changed by somebody who cannot sign.",
  },
  GIT_FAILED: {
    retryable: true,
    help: "The program git failed. The message has what it printed.",
  },
});
