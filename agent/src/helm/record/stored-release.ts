/** A release as Helm prints and stores it: JSON; in its Secret gzip and base64. Pure. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { canonicalJson, parseExact } from "@flotilla/shared/json";
import * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";
import { type HelmHook, hookManifest, hooksOf } from "./hooks.ts";
import { type KindChange, kindChange, withKindChanges } from "./kind-changes.ts";
import { type ReadYamlDocument, readYamlDocument } from "./manifest.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** A test of a chart: a hook that `helm test` runs. */
export interface HelmTest {
  readonly name: string;
  /** The phase of its last run; absent: it has not run. */
  readonly phase?: "Succeeded" | "Failed" | "Unknown";
  /** RFC 3339. */
  readonly startedAt?: string;
  readonly completedAt?: string;
}

/** A release with its manifest. */
export interface StoredRelease {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly status: string;
  readonly manifest: string;
  /**
   * Identifies what Helm would apply, delete and run for the revision: its manifest and its hooks, not its status and its values.
   * See `isSameContent`.
   */
  readonly content: string;
  /** The last results of its tests. */
  readonly tests: readonly HelmTest[];
  /** Its hooks, tests among them. */
  readonly hooks: readonly HelmHook[];
  readonly chartName: string;
  readonly chartVersion: string;
  readonly appVersion: string;
  /** RFC 3339. */
  readonly deployedAt?: string;
  /** By the client (`csa`) or the server (`ssa`); absent: by a client of Helm 3. */
  readonly applyMethod?: string;
  /** Helm's, of what it did: `Upgrade complete`, or an error. */
  readonly description?: string;
}

/** Some 12 MiB are the most that a Secret of a megabyte with a real chart has; one that was made to has a thousand. */
export const maxReleaseBytes = 32 * 1024 * 1024;

const releaseSchema = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  version: z.number().int(),
  manifest: z.string().default(""),
  hooks: z.array(z.looseObject({})).nullish(),
  apply_method: z.string().nullish(),
  info: z.looseObject({
    status: z.string(),
    last_deployed: z.string().nullish(),
    description: z.string().nullish(),
  }),
  chart: z
    .looseObject({
      metadata: z
        .looseObject({
          name: z.string().default(""),
          version: z.string().default(""),
          appVersion: z.string().default(""),
        })
        .optional(),
    })
    .optional(),
});

/** `what` is read, for messages. Throws RELEASE_UNREADABLE. */
export function parseRelease(json: string, what: string): StoredRelease {
  return readable(what, () => {
    const { name, namespace, version, manifest, hooks, info, chart, apply_method } =
      releaseSchema.parse(JSON.parse(json));
    return {
      namespace,
      name,
      revision: version,
      status: info.status,
      manifest,
      content: contentDigest(manifest, hooks ?? []),
      tests: (hooks ?? []).flatMap(testOf),
      hooks: hooksOf(hooks ?? []),
      chartName: chart?.metadata?.name ?? "",
      chartVersion: chart?.metadata?.version ?? "",
      appVersion: chart?.metadata?.appVersion ?? "",
      ...(info.last_deployed && { deployedAt: info.last_deployed }),
      ...(apply_method && { applyMethod: apply_method }),
      ...(info.description && { description: info.description }),
    };
  });
}

const hookSchema = z.looseObject({
  name: z.string(),
  events: z.array(z.string()).nullish(),
  last_run: z
    .looseObject({
      phase: z.string().nullish(),
      started_at: z.string().nullish(),
      completed_at: z.string().nullish(),
    })
    .nullish(),
});

function testOf(value: unknown): readonly HelmTest[] {
  const hook = hookSchema.safeParse(value);
  if (!hook.success || hook.data.events?.includes("test") !== true) return [];
  const { name, last_run: run } = hook.data;
  // Helm writes an empty phase and the year 1 before the first run.
  const phase = run?.phase;
  if (!phase) return [{ name }];
  return [
    {
      name,
      phase: phase === "Succeeded" || phase === "Failed" ? phase : "Unknown",
      ...(run.started_at && { startedAt: run.started_at }),
      ...(run.completed_at && { completedAt: run.completed_at }),
    },
  ];
}

type Hook = Readonly<Record<string, unknown>>;

function withoutLastRun({ last_run: _, ...hook }: Hook): Hook {
  return hook;
}

/** What Helm writes into a hook that has no policy when it runs it. */
const defaultPolicies = canonicalJson(["before-hook-creation"]);

function withoutDefaultPolicy(hook: Hook): Hook {
  const { delete_policies: policies, ...rest } = withoutLastRun(hook);
  const isDefault =
    canonicalJson(policies ?? []) === "[]" || canonicalJson(policies) === defaultPolicies;
  return isDefault ? rest : { ...rest, delete_policies: policies };
}

/**
 * The digests of the manifest, of the hooks without the results of their last runs, and of the hooks without what running tests changes:
 * Helm adds the default policy, and changes the order when it runs some of them. Agents before 0.3.0 have stored the first two.
 */
export function contentDigest(manifest: string, hooks: readonly Hook[]): string {
  const untested = hooks.map((hook) => canonicalJson(withoutDefaultPolicy(hook))).toSorted();
  return [manifest, canonicalJson(hooks.map(withoutLastRun)), canonicalJson(untested)]
    .map(sha256)
    .join(".");
}

/** Whether a stored content digest is a release's. Undefined: none is stored. */
export function isSameContent(
  stored: string | undefined,
  { content }: Pick<StoredRelease, "content">,
): boolean {
  if (stored === undefined) return false;
  const [manifest, hooks, untested] = stored.split(".");
  const [ownManifest, ownHooks, ownUntested] = content.split(".");
  if (manifest !== ownManifest) return false;
  return untested === undefined ? hooks === ownHooks : untested === ownUntested;
}

/** Whether a revision with this content digest has hooks. */
export function hasHooks(content: string): boolean {
  return content.split(".")[1] !== sha256("[]");
}

/** Whether a content digest fits a release with the same manifest, with any hooks. */
export function hasManifestOf(content: string, release: Pick<StoredRelease, "content">): boolean {
  return manifestDigest({ content }) === manifestDigest(release);
}

/** Identifies the manifest alone. */
export function manifestDigest({ content }: Pick<StoredRelease, "content">): string {
  return content.split(".", 1)[0] ?? "";
}

/** The release with another manifest. */
export function withManifest(release: StoredRelease, manifest: string): StoredRelease {
  const [, ...hooks] = release.content.split(".");
  return { ...release, manifest, content: [sha256(manifest), ...hooks].join(".") };
}

/** A release whose manifest has the objects of its hooks alone: to read them as a manifest is read. */
export function releaseOfHooks(release: StoredRelease): StoredRelease {
  return withManifest(release, hookManifest(release.hooks));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * The JSON of a stored release; undefined if it has more than `maxBytes`. `stored`: the value of its Secret, base64 twice, as
 * Helm encodes it and Kubernetes every Secret. Throws RELEASE_UNREADABLE.
 */
export async function unpackRelease(
  stored: string,
  what: string,
  maxBytes: number,
): Promise<string | undefined> {
  const packed = Buffer.from(Buffer.from(stored, "base64").toString(), "base64");
  try {
    return (await unzip(packed, { maxOutputLength: maxBytes })).toString();
  } catch (thrown) {
    if (isTooLarge(thrown)) return undefined;
    throw unreadable(what, thrown);
  }
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE";
}

/** What the agent changes in a stored release. */
export const releaseChange = z.union([
  /** To status `failed`, as Helm would have written it had it not been killed. */
  z.object({ failed: z.string() }),
  /** `hookKinds`: changed in its hooks, as in the manifest; a hook of a kind that is gone is left out. */
  z.object({ manifest: z.string(), hookKinds: z.array(kindChange).readonly().exactOptional() }),
]);
export type ReleaseChange = Readonly<z.infer<typeof releaseChange>>;

const chartValuesSchema = z.looseObject({
  chart: z.looseObject({ values: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});

/** The `values.yaml` of the chart of a release, as JSON. Throws RELEASE_UNREADABLE. */
export function chartValues(json: string, what: string): string {
  const { chart } = readable(what, () => chartValuesSchema.parse(parseExact(json)));
  return canonicalJson(chart?.values ?? {});
}

const storedSchema = z.looseObject({
  info: z.looseObject({}).optional(),
  hooks: z.array(z.looseObject({ manifest: z.string().optional() })).nullish(),
});
type StoredHook = NonNullable<z.infer<typeof storedSchema>["hooks"]>[number];

/** The value of the Secret of a changed release. Throws RELEASE_UNREADABLE. */
export async function changedRelease(
  json: string,
  what: string,
  { read = readYamlDocument, ...change }: ReleaseChange & { readonly read?: ReadYamlDocument },
): Promise<string> {
  // JSON.parse would round some numbers in the values.
  const release = readable(what, () => storedSchema.parse(parseExact(json)));
  const changed =
    "manifest" in change
      ? {
          ...release,
          manifest: change.manifest,
          ...(change.hookKinds !== undefined && {
            hooks: (release.hooks ?? []).flatMap(hookChanges(change.hookKinds, read)),
          }),
        }
      : {
          ...release,
          info: { ...release.info, status: "failed", description: change.failed },
        };
  // As small as Helm writes it: some charts barely fit into a Secret.
  const packed = await zip(canonicalJson(changed), { level: constants.Z_BEST_COMPRESSION });
  return Buffer.from(packed.toString("base64")).toString("base64");
}

function hookChanges(changes: readonly KindChange[], read: ReadYamlDocument) {
  return (hook: StoredHook): readonly StoredHook[] => {
    const { manifest } = hook;
    if (manifest === undefined) return [hook];
    const changed = withKindChanges(manifest, changes, read);
    if (changed === manifest) return [hook];
    return changed.trim() === "" ? [] : [{ ...hook, manifest: changed }];
  };
}

function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw unreadable(what, thrown);
  }
}

/** Throws RELEASE_UNREADABLE. */
export function unreadable(what: string, thrown: unknown): AppError {
  return new AppError(agentErrors.RELEASE_UNREADABLE, `read ${what}: ${messageOf(thrown)}`, {
    cause: thrown,
  });
}
