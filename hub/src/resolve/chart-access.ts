/**
 * How the hub accesses what HelmOps ask for: with the Secret that `helmSecretName` names in the HelmOp's own namespace,
 * and where that names no authorities with those of Rancher, where there is one.
 */
import { createHash } from "node:crypto";
import type { ObjectRef } from "@flotilla/proto/messages.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { isForbidden } from "@flotilla/shared/kube/client/status-error.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { ReferencedObjectData } from "@flotilla/shared/referenced/referenced-object.ts";
import type { AccessSettings } from "@flotilla/shared/source/access.ts";
import { accessSettingsFromSecret } from "@flotilla/shared/source/credentials/access-secret.ts";
import { classifySource, type SourceLocation } from "@flotilla/shared/source/location.ts";
import { hubErrors } from "../errors.ts";
import { wantedCharts } from "../frontend/charts.ts";
import type { WorkspaceObjects } from "../referenced/workspace-objects.ts";

export interface ChartAccess {
  /**
   * Throws HELM_SECRET_UNUSABLE, in Fleet's words. Whoever it is for is asked for again as soon as it differs.
   * `authorities`: trusted instead of Rancher's, as PEM.
   */
  of(helmOp: HelmOp, authorities?: string): Promise<HelmOpAccess>;
  /** The HelmOps whose access depends on an object. */
  users(namespace: string, ref: ObjectRef): readonly ObjectKey[];
  forget(key: ObjectKey): void;
}

export interface HelmOpAccess {
  settingsFor(source: SourceLocation): AccessSettings | AppError;
  /** Authorities that are trusted where the Secret names none, as PEM. */
  readonly caBundle?: string;
  /** Whether it is another one than when it was last asked for. */
  readonly hasChanged: boolean;
}

export interface ChartAccessDeps {
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known">;
  readonly log: Log;
}

/** Where Rancher keeps the authorities that it was told to trust, as in Fleet. */
const rancherNamespace = "cattle-system";
const rancherAuthorities = [
  { secret: "tls-ca", key: "cacerts.pem" },
  { secret: "tls-ca-additional", key: "ca-additional.pem" },
] as const;

const withoutAccess = "";

export function createChartAccess({ objects, log }: ChartAccessDeps): ChartAccess {
  /** By HelmOp. */
  const named = new Map<ObjectKey, { readonly namespace: string; readonly ref: ObjectRef }>();
  const seen = new Map<ObjectKey, string>();
  for (const { secret } of rancherAuthorities) objects.watch(rancherNamespace, secretRef(secret));

  function nameInstead(key: ObjectKey, namespace: string, secretName: string | undefined): void {
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

  async function read(
    namespace: string,
    name: string,
  ): Promise<{ readonly digest: string; readonly object: ReferencedObjectData } | undefined> {
    const known = await objects.known(namespace, secretRef(name));
    return known.kind === "present" ? known : undefined;
  }

  async function caBundle(): Promise<string | undefined> {
    const texts = await Promise.all(
      rancherAuthorities.map(async ({ secret, key }) => {
        try {
          const text = (await read(rancherNamespace, secret))?.object.data?.[key];
          return text === undefined ? "" : Buffer.from(text, "base64").toString();
        } catch (thrown) {
          // A hub without Rancher may not be allowed to look. What could not be read may be there all the same.
          if (!isForbidden(thrown))
            throw new AppError(
              hubErrors.HELM_SECRET_UNUSABLE,
              `could not read the authorities of Rancher, Secret ${rancherNamespace}/${secret}: ${messageOf(thrown)}`,
              { cause: thrown, retryable: true },
            );
          log.debug({ secret, err: messageOf(thrown) }, "authorities of Rancher were not read");
          return "";
        }
      }),
    );
    const bundle = texts.filter((text) => text.trim() !== "").join("\n");
    return bundle === "" ? undefined : bundle;
  }

  /** The Secret that is named, if one is; throws when it is not there. */
  async function namedSecret(namespace: string, name: string | undefined) {
    if (name === undefined) return undefined;
    const secret = await read(namespace, name).catch((thrown: unknown) => {
      throw unusable(messageOf(thrown), { cause: thrown, retryable: true });
    });
    if (secret === undefined)
      throw unusable(
        `there is no Secret ${namespace}/${name}; it goes on as soon as somebody makes it`,
      );
    return secret;
  }

  function changeOf(key: ObjectKey, fingerprint: string): boolean {
    const before = seen.get(key);
    seen.set(key, fingerprint);
    return before !== undefined && before !== fingerprint;
  }

  return {
    async of(helmOp, authorities) {
      const key = keyOf(helmOp);
      const { namespace = "" } = helmOp.metadata;
      const secretName = helmOp.spec.helmSecretName || undefined;
      nameInstead(key, namespace, secretName);
      const [bundle, secret] = await Promise.all([
        authorities ?? caBundle(),
        namedSecret(namespace, secretName),
      ]).catch((thrown: unknown) => {
        seen.set(key, withoutAccess);
        throw AppError.from(thrown);
      });
      const settingsFor = (source: SourceLocation) =>
        accessSettingsFromSecret(secret?.object, {
          source,
          insecureSkipVerify: helmOp.spec.insecureSkipTLSVerify,
          caBundle: bundle,
        });
      const hasChanged = changeOf(key, fingerprintOf(secret?.digest, bundle));
      const problem = firstProblem(helmOp, settingsFor);
      if (problem !== undefined)
        throw unusable(`Secret ${namespace}/${secretName ?? ""}: ${problem.message}`);
      return { settingsFor, ...(bundle !== undefined && { caBundle: bundle }), hasChanged };
    },
    users(namespace, ref) {
      const isForAll =
        namespace === rancherNamespace &&
        rancherAuthorities.some(({ secret }) => secret === ref.name);
      if (isForAll) return [...seen.keys()];
      return [...named].flatMap(([key, user]) =>
        user.namespace === namespace && user.ref.kind === ref.kind && user.ref.name === ref.name
          ? [key]
          : [],
      );
    },
    forget(key) {
      const before = named.get(key);
      named.delete(key);
      seen.delete(key);
      if (before !== undefined) objects.unwatch(before.namespace, before.ref);
    },
  };
}

/** What keeps any of its charts from being asked for. */
function firstProblem(
  helmOp: HelmOp,
  settingsFor: HelmOpAccess["settingsFor"],
): AppError | undefined {
  for (const wanted of wantedCharts(helmOp)) {
    const source = classifySource(wanted);
    const settings = source instanceof AppError ? undefined : settingsFor(source);
    if (settings instanceof AppError) return settings;
  }
  return undefined;
}

/** For memory only. */
function fingerprintOf(digest: string | undefined, caBundle: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([digest, caBundle]))
    .digest("base64");
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
