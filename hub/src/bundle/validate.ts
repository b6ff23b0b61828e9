/** What the hub refuses of a Bundle that was not made for a HelmOp. Pure. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { hubErrors } from "../errors.ts";
import { refusalOf } from "../helmop/validate.ts";
import { asHelmOp } from "./as-helm-op.ts";

/** The first thing that is wrong, as a sentence that says what to change; undefined when it can be carried out. */
export function bundleRefusal(bundle: Bundle): AppError | undefined {
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
  return refusalOf(asHelmOp(bundle));
}
