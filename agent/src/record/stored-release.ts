/** A release as Helm prints and stores it: JSON; in its Secret gzip and base64. Pure. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { canonicalJson, parseExact } from "@flotilla/shared/json";
import { z } from "zod";
import { agentErrors } from "../errors/index.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** A release with its manifest. */
export interface HelmRelease {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly status: string;
  readonly manifest: string;
  /** Identifies what Helm would apply, delete and run for the revision: its manifest and its hooks, not its status and its values. */
  readonly content: string;
  readonly chartVersion: string;
  readonly appVersion: string;
}

/** Some 12 MiB are the most that a Secret of a megabyte with a real chart has; one that was made to has a thousand. */
export const maxReleaseBytes = 32 * 1024 * 1024;

const releaseSchema = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  version: z.number().int(),
  manifest: z.string().default(""),
  hooks: z.array(z.looseObject({})).nullish(),
  info: z.looseObject({ status: z.string() }),
  chart: z
    .looseObject({
      metadata: z
        .looseObject({ version: z.string().default(""), appVersion: z.string().default("") })
        .optional(),
    })
    .optional(),
});

/** `what` is read, for messages. Throws RELEASE_UNREADABLE. */
export function parseRelease(json: string, what: string): HelmRelease {
  return readable(what, () => {
    const { name, namespace, version, manifest, hooks, info, chart } = releaseSchema.parse(
      JSON.parse(json),
    );
    return {
      namespace,
      name,
      revision: version,
      status: info.status,
      manifest,
      content: contentDigest(manifest, canonicalJson((hooks ?? []).map(withoutLastRun))),
      chartVersion: chart?.metadata?.version ?? "",
      appVersion: chart?.metadata?.appVersion ?? "",
    };
  });
}

function withoutLastRun({ last_run: _, ...hook }: Readonly<Record<string, unknown>>): unknown {
  return hook;
}

/** `hooks`: as canonical JSON, without the results of their last runs. */
export function contentDigest(manifest: string, hooks: string): string {
  return `${sha256(manifest)}.${sha256(hooks)}`;
}

/** Whether a content digest is that of a release with the same manifest, with any hooks. */
export function hasManifestOf(content: string, release: Pick<HelmRelease, "content">): boolean {
  return manifestDigest({ content }) === manifestDigest(release);
}

/** Identifies the manifest alone. */
export function manifestDigest({ content }: Pick<HelmRelease, "content">): string {
  return content.split(".", 1)[0] ?? "";
}

/** The release with another manifest. */
export function withManifest(release: HelmRelease, manifest: string): HelmRelease {
  const [, hooks = ""] = release.content.split(".");
  return { ...release, manifest, content: `${sha256(manifest)}.${hooks}` };
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
  z.object({ manifest: z.string() }),
]);
export type ReleaseChange = Readonly<z.infer<typeof releaseChange>>;

const storedSchema = z.looseObject({ info: z.looseObject({}).optional() });

/** The value of the Secret of a changed release. Throws RELEASE_UNREADABLE. */
export async function changedRelease(
  json: string,
  what: string,
  change: ReleaseChange,
): Promise<string> {
  // JSON.parse would round some numbers in the values.
  const release = readable(what, () => storedSchema.parse(parseExact(json)));
  const changed =
    "manifest" in change
      ? { ...release, manifest: change.manifest }
      : {
          ...release,
          info: { ...release.info, status: "failed", description: change.failed },
        };
  // As small as Helm writes it: some charts barely fit into a Secret.
  const packed = await zip(canonicalJson(changed), { level: constants.Z_BEST_COMPRESSION });
  return Buffer.from(packed.toString("base64")).toString("base64");
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
