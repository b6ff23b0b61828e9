/** For which app a Bundle was made, as its labels say it. Pure. */
import { type AppKind, appDefinition, appKinds } from "./app-kinds.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/**
 * Whether a Bundle with the name of the app's Bundle was made for the app: another object may have had that name first. A Bundle is its
 * own whatever else it was made for.
 */
export function isMadeFor(labels: Labels, kind: AppKind, name: string): boolean {
  const { label, bundleName } = appDefinition(kind);
  if (label === undefined) return true;
  // A prefixed name is derived from the app's, and the label may have a shortened one.
  return bundleName === "prefixed" ? labels?.[label] !== undefined : labels?.[label] === name;
}

/** The app that a Bundle or a BundleDeployment was made for, with its name as a label has it; undefined: for the Bundle itself. */
export function appInLabels(
  labels: Labels,
): { readonly kind: AppKind; readonly name: string } | undefined {
  for (const kind of appKinds) {
    const { label } = appDefinition(kind);
    const name = label === undefined ? undefined : labels?.[label];
    if (name !== undefined) return { kind, name };
  }
  return undefined;
}
