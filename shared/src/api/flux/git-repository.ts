/** Flux's GitRepository: a branch, tag or commit of a Git repository. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, plainFlag, plainText, type Typed } from "../fleet/index.ts";
import {
  duration,
  flag,
  localReference,
  shortDuration,
  string,
  strings,
  suspend,
} from "./field.ts";
import { artifactSchema, sourceStatusFields } from "./source-status.ts";

const includeSchema = fields(
  {
    repository: described(
      fields({ name: described(z.string(), "Its name.") }),
      "A GitRepository of the namespace.",
    ),
    fromPath: plainText("The folder to copy; absent: all of it."),
    toPath: plainText("The folder to copy it to; absent: the name of the GitRepository."),
  },
  "GitRepositoryInclude",
);

const verifyModes = ["head", "HEAD", "Tag", "TagAndHEAD"] as const;

const gitRepositorySpecSchema = fields({
  url: described(
    string({ pattern: /^(http|https|ssh):\/\/.*$/ }),
    "The address of the repository: `https://…`, `http://…` or `ssh://…`.",
  ),
  ref: described(
    fields({
      branch: plainText("The branch."),
      tag: plainText("The tag. It wins over `branch`."),
      semver: plainText(
        "A constraint: the newest tag that satisfies it. It wins over `tag` and `branch`.",
      ),
      name: plainText(
        "The full name of a reference, such as `refs/heads/main` or `refs/pull/420/head`. It wins over all but `commit`.",
      ),
      commit: plainText("The commit. It wins over all others; with `branch` it must be in it."),
    }).optional(),
    "What to fetch.",
    { "x-default-text": "the branch `master`" },
  ),
  interval: described(duration, "How often the repository is requested."),
  timeout: described(
    shortDuration.default("60s"),
    "How long a request may take, as in `60s` or `5m`. Hours are not accepted.",
  ),
  secretRef: localReference(
    "A Secret: `username` and `password`, or `bearerToken`; `identity`, `known_hosts` and `password` for SSH; `tls.crt`, `tls.key` and `ca.crt`; or the keys of a GitHub App.",
  ),
  provider: described(
    z.enum(["generic", "aws", "azure", "github"]).optional(),
    "Where the credentials come from: `generic`: the Secret; `github`: a GitHub App. Others are not supported.",
    { "x-default-text": "generic" },
  ),
  serviceAccountName: plainText("For the providers `azure` and `aws`. Not supported."),
  proxySecretRef: localReference(
    "A Secret with the `address` of a proxy, and its `username` and `password`.",
  ),
  verify: described(
    fields({
      mode: described(
        z.enum(verifyModes).default("HEAD"),
        "What must be signed: the commit (`HEAD`), the tag, or both.",
      ),
      secretRef: described(
        fields({ name: described(z.string(), "Its name.") }),
        "A Secret with the public keys of the authors: PGP keys, or SSH keys in keys that end in `.sshpub`.",
      ),
    }).optional(),
    "The signature that the commit or the tag must have.",
  ),
  ignore: plainText(
    "Files to leave out, as in a `.gitignore`; it wins over `.sourceignore` files.",
  ),
  recurseSubmodules: flag("Fetch submodules as well."),
  include: described(
    z.array(includeSchema).optional(),
    "Other GitRepositories, whose files are copied into this one.",
  ),
  sparseCheckout: strings("The folders to fetch.", { absent: "all" }),
  suspend,
}).meta({
  "x-kubernetes-validations": [
    {
      rule: "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))",
      message:
        "serviceAccountName is for the providers 'azure' and 'aws' only: remove it, or set provider",
    },
  ],
});

const gitRepositoryStatusSchema = fields({
  observedGeneration: sourceStatusFields.observedGeneration,
  conditions: sourceStatusFields.conditions,
  artifact: sourceStatusFields.artifact,
  includedArtifacts: described(
    z.array(artifactSchema).optional(),
    "The artifacts of the included GitRepositories.",
  ),
  observedIgnore: plainText("`spec.ignore` of the artifact."),
  observedRecurseSubmodules: plainFlag("`spec.recurseSubmodules` of the artifact."),
  observedInclude: described(z.array(includeSchema).optional(), "`spec.include` of the artifact."),
  observedSparseCheckout: strings("`spec.sparseCheckout` of the artifact."),
  sourceVerificationMode: described(
    z.enum(verifyModes).optional(),
    "What was verified of the artifact.",
  ),
  lastHandledReconcileAt: sourceStatusFields.lastHandledReconcileAt,
  polling: sourceStatusFields.polling,
});

export type GitRepositorySpec = Typed<typeof gitRepositorySpecSchema>;
export type GitRepositoryStatus = Typed<typeof gitRepositoryStatusSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface GitRepository extends KubeObject {
  readonly spec?: GitRepositorySpec;
  readonly status?: GitRepositoryStatus;
}

export const gitRepositorySchemas = {
  spec: gitRepositorySpecSchema,
  status: gitRepositoryStatusSchema,
} as const;
