/** The flags of `helm upgrade` that a helmfile may use, and why the others are refused (docs/helmfile.md). Pure. */
import type { Flag, FlagTable } from "./flags.ts";

const on: Flag = { kind: "switch" };
const text: Flag = { kind: "text" };

/** What Helm is to do with the release. Their names are Helm's. */
export const releaseFlags = {
  "create-namespace": on,
  devel: on,
  "history-max": text,
  timeout: text,
  wait: { kind: "optional", alone: "watcher" },
  "wait-for-jobs": on,
  "rollback-on-failure": on,
  "cleanup-on-fail": on,
  "force-replace": on,
  "force-conflicts": on,
  "take-ownership": on,
  "server-side": text,
  "skip-crds": on,
  "skip-schema-validation": on,
  "disable-openapi-validation": on,
  "enable-dns": on,
  description: text,
  labels: text,
  verify: on,
  keyring: text,
  "plain-http": on,
  "insecure-skip-tls-verify": on,
} as const satisfies Readonly<Record<string, Flag>>;

/** Sources of values; within each of them the order counts. */
export const valuesFlags = {
  values: text,
  set: text,
  "set-string": text,
  "set-file": text,
  "set-literal": text,
} as const satisfies Readonly<Record<string, Flag>>;

/** Nothing of a plan depends on them: the values of the command are always the only ones, and notes are kept. */
const withoutEffect = ["install", "reset-values", "hide-notes"] as const;

export const upgradeTable: FlagTable = {
  flags: {
    ...releaseFlags,
    ...valuesFlags,
    ...Object.fromEntries(withoutEffect.map((name) => [name, on])),
    namespace: text,
    version: text,
    "kube-context": text,
  },
  letters: { f: "values", i: "install", l: "labels", n: "namespace" },
};

const connection = "the agent decides how the cluster is reached, and as which account";
const credentials = "credentials come from Secrets: name one in spec.sourceSecretName";
const fromPast = "what is deployed would depend on what was deployed before; remove reuseValues";
const program =
  "a post-renderer is a program; write spec.postRenderers of the Helmfile, or strategicMergePatches of the release";

/** Why a flag is refused that Helm, or helmfile, knows. */
const refusals: Readonly<Record<string, string>> = {
  "reuse-values": fromPast,
  "reset-then-reuse-values": fromPast,
  "recreate-pods":
    "Helm 4 does not have it; a checksum of the configuration in an annotation of the pods restarts them when it changes",
  adopt: "Helm 4 does not have it; write takeOwnership: true",
  "post-renderer": program,
  "post-renderer-args": program,
  "set-json": "write the values into a file",
  "dry-run": "what is planned is deployed; set spec.approval to Manual to see it before",
  kubeconfig: connection,
  "burst-limit": connection,
  qps: connection,
  username: credentials,
  password: credentials,
  "pass-credentials": credentials,
  "registry-config": credentials,
  "repository-config": credentials,
  "repository-cache": credentials,
  "ca-file": credentials,
  "cert-file": credentials,
  "key-file": credentials,
};

/** A sentence for people; `flag` as it was written, `--qps` for instance. */
export function refusalOf(flag: string): string {
  const name = flag.replace(/^-+/, "");
  if (name.startsWith("kube-")) return connection;
  return (Object.hasOwn(refusals, name) ? refusals[name] : undefined) ?? "it is not supported";
}
