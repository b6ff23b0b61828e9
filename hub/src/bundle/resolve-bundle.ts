/**
 * Resolves the charts of Bundles that were not made for a HelmOp. What they come to is kept in `status.pins`: the spec is
 * the author's, and whoever keeps it in Git would take out what is written into it. A status also has rights of its own,
 * so that nobody can pin an archive that a Policy would not have let through.
 */
import type { Bundle, ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Resolver } from "@flotilla/shared/source/client/source-client.ts";
import type { Pin } from "@flotilla/shared/source/pin.ts";
import type { ChartAccess } from "../resolve/chart-access.ts";
import type { Doubts } from "../resolve/doubts.ts";
import { retryMs } from "../resolve/polling.ts";
import { notesOn, resolveCharts } from "../resolve/resolve-charts.ts";
import { isRunByAny } from "../resolve/runs-archive.ts";
import { asHelmOp } from "./as-helm-op.ts";

export interface BundleResolution {
  /** What is to be kept, also when something failed. */
  readonly pins: readonly ChartPin[];
  /** Authorities that are trusted where its Secret names none, as PEM. */
  readonly caBundle?: string;
  /** What people should know although it was resolved. */
  readonly remarks: readonly string[];
  /** Why what has no pin has none, so that nothing can be handed out, or why what has one could not be looked up anew. */
  readonly failure?: {
    readonly error: AppError;
    readonly isPinned: boolean;
    readonly retryMs?: number;
  };
}

export interface BundleRequest {
  /** What is kept of an earlier time. Repositories are asked only for what is not among it. */
  readonly known: readonly ChartPin[];
  /** Somebody asks for everything to be read anew: what is found is followed, whatever it is. */
  readonly isAsked: boolean;
  readonly signal: AbortSignal;
}

export interface BundleResolver {
  resolve(bundle: Bundle, request: BundleRequest): Promise<BundleResolution>;
  forget(key: ObjectKey): void;
}

export interface BundleResolverDeps {
  readonly resolver: Resolver;
  readonly access: ChartAccess;
  readonly doubts: Doubts;
  readonly deploymentsOf: (bundle: ObjectKey) => readonly BundleDeployment[];
}

export function createBundleResolver(deps: BundleResolverDeps): BundleResolver {
  /** In a row, by Bundle. */
  const failuresOf = new Map<ObjectKey, number>();

  return {
    async resolve(bundle, { known, isAsked, signal }) {
      const key = keyOf(bundle);
      const helmOp = asHelmOp(bundle);
      const access = await deps.access.of(helmOp, authoritiesOf(bundle)).catch(AppError.from);
      // A Secret that is not as it should be has this looked at again as soon as it changes.
      if (access instanceof AppError)
        return { pins: known, remarks: [], failure: failureOf(access, 1, false) };
      const isDoubted = deps.doubts.take(key);
      const { pins, failure } = await resolveCharts(deps.resolver, {
        helmOp,
        known,
        poll: isAsked,
        follow: isAsked,
        settingsFor: access.settingsFor,
        ...(isDoubted && { isUseless: (pin: Pin) => !isRunByAny(deps.deploymentsOf(key), pin) }),
        signal,
      });
      const failures = failure === undefined ? 0 : (failuresOf.get(key) ?? 0) + 1;
      failuresOf.set(key, failures);
      return {
        pins,
        ...(access.caBundle !== undefined && { caBundle: access.caBundle }),
        remarks: notesOn(pins),
        ...(failure !== undefined && {
          failure: failureOf(failure.error, failures, failure.isPinned),
        }),
      };
    },
    forget(key) {
      failuresOf.delete(key);
      deps.access.forget(key);
      deps.doubts.forget(key);
    },
  };
}

function failureOf(
  error: AppError,
  failures: number,
  isPinned: boolean,
): NonNullable<BundleResolution["failure"]> {
  return { error, isPinned, ...(error.retryable && { retryMs: retryMs(failures) }) };
}

/** Those that its author gives, as PEM. */
function authoritiesOf({ spec }: Bundle): string | undefined {
  const encoded = spec.helmOpOptions?.helmOpCABundle || undefined;
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString();
}
