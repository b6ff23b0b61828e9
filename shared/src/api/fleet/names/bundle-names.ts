/** The names of Bundles that are made for apps. Pure. */
import { type AppKind, appDefinition, appKinds } from "../apps/index.ts";
import { frontEndBundleName } from "./names.ts";

/** The name of the Bundle of an app. */
export function bundleNameOf(kind: AppKind, name: string): string {
  return appDefinition(kind).bundleName === "same" ? name : frontEndBundleName(kind, name);
}

/**
 * The app whose Bundle has this name, where there may be no such Bundle: a prefix tells the kind, and the name unless that was shortened.
 * A name without one may be a name of several kinds, of which the first one is returned.
 */
export function appOfBundleName(bundle: string): {
  readonly kind: AppKind;
  readonly name: string;
} {
  const own = bundle.slice(bundle.indexOf("-") + 1);
  const kinds = appKinds.filter((kind) => appDefinition(kind).bundleName === "prefixed");
  const prefixed = kinds.find((kind) => frontEndBundleName(kind, own) === bundle);
  if (prefixed !== undefined) return { kind: prefixed, name: own };
  const [first = "Bundle"] = appKinds.filter((kind) => appDefinition(kind).bundleName === "same");
  return { kind: first, name: bundle };
}
