/**
 * How the hub accesses chart sources: with the Secret that `helmSecretName` names in the object's own namespace and, where
 * that has no CA certificates, with Rancher's, if there are any.
 */
import type { ObjectRef } from "@flotilla/proto";
import { rancherNamespace } from "@flotilla/shared/api/names";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isForbidden } from "@flotilla/shared/kube/client";
import type { Watch } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import { type AccessSettings, classifySource, type SourceLocation } from "@flotilla/shared/source";
import { accessSettingsFromSecret } from "@flotilla/shared/source/credentials";
import { hubErrors } from "../../base/index.ts";
import { chartReferences } from "../frontend/charts.ts";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import type { WorkspaceObjects } from "../referenced/workspace-objects.ts";

export interface ChartAccess {
  /**
   * Throws HELM_SECRET_UNUSABLE, with Fleet's message. From then on the Secret is watched for this object, until
   * `forget`.
   */
  of(release: PlannedRelease, options?: AccessOptions): Promise<ReleaseAccess>;
  /** The keys of the objects whose access depends on a Secret. */
  keysUsing(namespace: string, ref: ObjectRef): readonly ObjectKey[];
  forget(key: ObjectKey): void;
}

export interface AccessOptions {
  /** Trusted instead of Rancher's, as PEM. */
  readonly authorities?: string | undefined;
  /** Errors may quote the responses of the source; default: they may not. */
  readonly showsResponses?: boolean;
}

/** Watches the Secrets that objects are accessed with, and maps one to the keys of those objects. */
export function watchSecrets(
  objects: Pick<WorkspaceObjects, "onChange">,
  access: Pick<ChartAccess, "keysUsing">,
): Watch {
  return {
    start: (enqueue) =>
      objects.onChange((namespace, ref) => {
        for (const key of access.keysUsing(namespace, ref)) enqueue(key);
      }),
  };
}

/** How the charts of one release are read. */
export interface ReleaseAccess {
  settingsFor(source: SourceLocation): AccessSettings | AppError;
  /** CA certificates that are trusted where the Secret has none, as PEM. */
  readonly caBundle?: string;
  /** Identifies the Secrets and their versions, never their content. */
  readonly version: string;
}

export interface ChartAccessDeps {
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known">;
  readonly log: Log;
}

type ReadSecret = { readonly object: ReferencedObjectData; readonly resourceVersion: string };

interface CaBundle {
  readonly pem: string;
  readonly versions: readonly string[];
}

/** The Secrets with the CA certificates that Rancher trusts, as in Fleet. */
const rancherAuthorities = [
  { secret: "tls-ca", key: "cacerts.pem" },
  { secret: "tls-ca-additional", key: "ca-additional.pem" },
] as const;

export function createChartAccess({ objects, log }: ChartAccessDeps): ChartAccess {
  /** The watched Secret of each object. */
  const named = new Map<ObjectKey, { readonly namespace: string; readonly ref: ObjectRef }>();
  const known = new Set<ObjectKey>();
  let watchesRancher = false;

  /** Not before a release is accessed: each replica of the hub has one of these, and most never access any. */
  function watchRancher(): void {
    if (watchesRancher) return;
    watchesRancher = true;
    for (const { secret } of rancherAuthorities) objects.watch(rancherNamespace, secretRef(secret));
  }

  function watchInstead(key: ObjectKey, namespace: string, secretName: string | undefined): void {
    const before = named.get(key);
    if (before?.ref.name === secretName) return;
    if (secretName === undefined) named.delete(key);
    else {
      const ref = secretRef(secretName);
      objects.watch(namespace, ref);
      named.set(key, { namespace, ref });
    }
    if (before !== undefined) objects.unwatch(before.namespace, before.ref);
  }

  async function read(namespace: string, name: string): Promise<ReadSecret | undefined> {
    const found = await objects.known(namespace, secretRef(name));
    return found.kind === "present" ? found : undefined;
  }

  /** Rancher's CA certificates as PEM, "" where there are none, and their versions. */
  async function rancherBundle(): Promise<CaBundle> {
    const found = await Promise.all(
      rancherAuthorities.map(async ({ secret, key }) => {
        try {
          const { object, resourceVersion = "" } = (await read(rancherNamespace, secret)) ?? {};
          const pem = Buffer.from(object?.data?.[key] ?? "", "base64").toString();
          return { pem, version: resourceVersion };
        } catch (thrown) {
          // A hub without Rancher may have no right to read it. After any other error the Secret may exist.
          if (!isForbidden(thrown))
            throw new AppError(
              hubErrors.HELM_SECRET_UNUSABLE,
              `could not read the CA certificates of Rancher, Secret ${rancherNamespace}/${secret}: ${messageOf(thrown)}`,
              { cause: thrown, retryable: true },
            );
          log.debug(
            { secret, err: messageOf(thrown) },
            "no right to read CA certificates of Rancher",
          );
          return { pem: "", version: "" };
        }
      }),
    );
    const used = found.filter(({ pem }) => pem.trim() !== "");
    return {
      pem: used.map(({ pem }) => pem).join("\n"),
      versions: used.map(({ version }) => version),
    };
  }

  /** Throws when the Secret does not exist. */
  async function namedSecret(namespace: string, name: string | undefined) {
    if (name === undefined) return undefined;
    const secret = await read(namespace, name).catch((thrown: unknown) => {
      throw unusable(messageOf(thrown), { cause: thrown, retryable: true });
    });
    if (secret === undefined)
      throw unusable(`there is no Secret ${namespace}/${name}; retrying as soon as it is created`);
    return secret;
  }

  return {
    async of(release, { authorities, showsResponses = false } = {}) {
      const key = keyOf(release);
      const { namespace = "" } = release.metadata;
      const secretName = release.source.secretName;
      watchRancher();
      watchInstead(key, namespace, secretName);
      known.add(key);
      const [bundle, secret] = await Promise.all([
        authorities === undefined ? rancherBundle() : { pem: authorities, versions: [] },
        namedSecret(namespace, secretName),
      ]);
      const caBundle = bundle.pem === "" ? undefined : bundle.pem;
      const settingsFor = (source: SourceLocation) => {
        const settings = accessSettingsFromSecret(secret?.object, {
          source,
          insecureSkipVerify: release.source.insecureSkipTLSVerify,
          caBundle,
        });
        if (settings instanceof AppError || !showsResponses) return settings;
        return { ...settings, showsResponses };
      };
      const problem = firstProblem(release, settingsFor);
      if (problem !== undefined)
        throw unusable(`Secret ${namespace}/${secretName ?? ""}: ${problem.message}`);
      const versions = [
        ...(secret === undefined ? [] : [secret.resourceVersion]),
        ...bundle.versions,
      ];
      return {
        settingsFor,
        ...(caBundle !== undefined && { caBundle }),
        version: versions.join(" "),
      };
    },
    keysUsing(namespace, ref) {
      const isForAll =
        namespace === rancherNamespace &&
        rancherAuthorities.some(({ secret }) => secret === ref.name);
      if (isForAll) return [...known];
      return [...named].flatMap(([key, user]) =>
        user.namespace === namespace && user.ref.kind === ref.kind && user.ref.name === ref.name
          ? [key]
          : [],
      );
    },
    forget(key) {
      const before = named.get(key);
      named.delete(key);
      known.delete(key);
      if (before !== undefined) objects.unwatch(before.namespace, before.ref);
    },
  };
}

/** Why the access cannot be used for one of the object's charts. */
function firstProblem(
  release: PlannedRelease,
  settingsFor: ReleaseAccess["settingsFor"],
): AppError | undefined {
  for (const reference of chartReferences(release)) {
    const source = classifySource(reference);
    const settings = source instanceof AppError ? undefined : settingsFor(source);
    if (settings instanceof AppError) return settings;
  }
  return undefined;
}

function unusable(
  message: string,
  options: { readonly cause?: unknown; readonly retryable?: boolean } = {},
): AppError {
  return new AppError(
    hubErrors.HELM_SECRET_UNUSABLE,
    `could not read Helm auth from secret: ${message}`,
    options,
  );
}

function secretRef(name: string): ObjectRef {
  return { kind: "Secret", name };
}
