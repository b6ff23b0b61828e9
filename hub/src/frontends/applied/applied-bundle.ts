/**
 * Bundles that were applied by hand, without a HelmOp: such a Bundle is a release, which is validated and resolved like the release of a
 * HelmOp. The spec belongs to its author and is never written; the hub's results are in its status. Pure.
 */
import type { Bundle, HelmOp } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";
import {
  bundleSpecOf,
  isOwnBundle,
  type ResolvedCharts,
  releaseOfBundle,
} from "../../rules/index.ts";
import { validate as validateRelease } from "../helmop/validate.ts";

/** Whether no HelmOp keeps this Bundle. Its label alone proves nothing: only a HelmOp's Bundle has pins in its spec. */
export function isAppliedByHand(bundle: Bundle, helmOp: HelmOp | undefined): boolean {
  return helmOp === undefined || !isOwnBundle("HelmOp", helmOp, bundle);
}

/** The first thing that is wrong, and what to change; undefined when the Bundle can be deployed. */
export function validateBundle(bundle: Bundle): AppError | undefined {
  const { spec } = bundle;
  const hasFiles = (spec.resources ?? []).length > 0 || Boolean(spec.contentsId);
  const hasChart = Boolean(spec.helm?.chart) || Boolean(spec.helm?.repo);
  if (hasFiles || !hasChart) {
    const what = hasFiles
      ? `the Bundle has files of its own (spec.${spec.contentsId ? "contentsId" : "resources"}), as Fleet makes them from Git; Flotilla deploys charts from repositories and registries only`
      : "the Bundle names no chart";
    return new AppError(
      hubErrors.BUNDLE_NOT_DEPLOYABLE,
      `${what}: name a chart with spec.helm.repo and spec.helm.chart${hasFiles ? ", and leave the files out" : ""}`,
    );
  }
  if (spec.helmOpOptions?.origin !== undefined)
    return new AppError(
      hubErrors.BUNDLE_NOT_DEPLOYABLE,
      "spec.helmOpOptions.origin is set, which only the hub may write: it decides as whom and with which Secrets agents act; remove it, or apply a HelmRelease instead of this Bundle",
    );
  return validateRelease(releaseOfBundle(bundle));
}

/** The spec that is deployed: every version resolved. Unlike a HelmOp without targets it is deployed nowhere without them. */
export function resolvedSpec(bundle: Bundle, charts: ResolvedCharts): Bundle["spec"] {
  return bundleSpecOf(releaseOfBundle(bundle), charts);
}

/** The CA certificates from its spec, as PEM. */
export function authoritiesOf({ spec }: Bundle): string | undefined {
  const encoded = spec.helmOpOptions?.helmOpCABundle || undefined;
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString();
}
