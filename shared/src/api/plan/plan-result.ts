/**
 * The answer of an agent to the question what Helm would change in its cluster: one line of JSON, and, if asked for, the text of the
 * changes after it.
 */
import * as z from "zod";

/** Without the line break. */
export const maxPlanLineBytes = 4 * 1024;
/** The text after the line. */
export const maxPlanTextBytes = 64 * 1024;

/**
 * What limits the result, so that it says less than the upgrade does. A newer agent may send others.
 *
 * - `LookupNotEvaluated`: the chart was rendered without the cluster, because it has objects of kinds that it defines itself.
 * - `NotComparedByServer`: an admission webhook does not support dry runs, so objects were compared without the API server's defaults.
 * - `NotValidated`: the kind of an object does not exist yet, so nothing has validated the object.
 * - `NamespaceMissing`: the release's namespace does not exist yet, so nothing has validated the objects in it.
 * - `Generated`: some values differ from one rendering to the next, such as random passwords, and are not in the digest.
 * - `Hooks`: the chart has hooks, which do what a plan cannot see.
 * - `CrdsApplied`: definitions of the chart's folder `crds` are created or replaced.
 * - `TextCut`: the text of the changes is longer than its limit.
 */
export type PlanRemark =
  | "LookupNotEvaluated"
  | "NotComparedByServer"
  | "NotValidated"
  | "NamespaceMissing"
  | "Generated"
  | "Hooks"
  | "CrdsApplied"
  | "TextCut";

/** Objects, by what happens to them. */
export interface PlanCounts {
  readonly create: number;
  readonly update: number;
  /** Deleted and created again. */
  readonly replace: number;
  readonly delete: number;
}

export interface PlanResult {
  /**
   * `none`: Helm would change no object. `install`: nothing is installed yet. `fails`: the upgrade would fail, `code` and `message` say
   * how; the digest of one that fails at its objects covers what would change beside them.
   */
  readonly result: "none" | "changes" | "install" | "fails";
  readonly counts: PlanCounts;
  /**
   * `sha256:` and hex: over what changes, with masked values by a digest with the key of the plan. Clusters whose plans have the same
   * key and digest change in the same way.
   */
  readonly digest: string;
  /** `sha256:` and hex: over the changed paths, without values and without names of namespaces. */
  readonly shape: string;
  /** The id of the installed content; empty: none is installed, or somebody else has changed the release. */
  readonly applied: string;
  /** The newest revision of Helm; 0: there is none. */
  readonly revision: number;
  /** See `PlanRemark`; a newer agent may send others. */
  readonly remarks: readonly string[];
  /** The number of hooks that the upgrade or installation runs. */
  readonly hooks: number;
  /** The number of objects that would fail. */
  readonly failures: number;
  /** Only with `fails`: an error code (docs/errors.md). */
  readonly code?: string | undefined;
  /** Only with `fails`, for people. */
  readonly message?: string | undefined;
}

const count = z.int().min(0).max(1_000_000);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const resultSchema = z.object({
  result: z.enum(["none", "changes", "install", "fails"]),
  counts: z.object({ create: count, update: count, replace: count, delete: count }),
  digest,
  shape: digest,
  applied: z.union([z.literal(""), digest]),
  revision: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  remarks: z.array(z.string().regex(/^[A-Za-z]{1,64}$/)).max(32),
  hooks: count,
  failures: count,
  code: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/)
    .optional(),
  message: z.string().max(maxPlanLineBytes).optional(),
}) satisfies z.ZodType<PlanResult>;

export interface PlanAnswer {
  readonly result: PlanResult;
  /** Unified diffs; empty: not asked for, or nothing changes. */
  readonly text: string;
}

// All of C0 and C1 but tabs and line breaks, and characters that change the direction of the text after them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Reads the bytes of an answer, which an agent could have made up: within the limits, and without characters that a terminal acts
 * on. Undefined: it is not an answer to a plan.
 */
export function parsePlanAnswer(bytes: Uint8Array): PlanAnswer | undefined {
  const end = bytes.indexOf(0x0a);
  const line = end < 0 ? bytes : bytes.subarray(0, end);
  const rest = end < 0 ? new Uint8Array() : bytes.subarray(end + 1);
  if (line.length > maxPlanLineBytes || rest.length > maxPlanTextBytes) return undefined;
  const parsed = resultSchema.safeParse(parseJson(Buffer.from(line).toString()));
  if (!parsed.success) return undefined;
  const { message, ...result } = parsed.data;
  return {
    result: { ...result, ...(message !== undefined && { message: printable(message) }) },
    text: printable(Buffer.from(rest).toString()),
  };
}

function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, "\ufffd");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
