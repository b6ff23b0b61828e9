/** Labels as texts. Pure. */

/** Each as `key=value`. */
export function labelTexts(labels: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels).map(([label, value]) => `${label}=${value}`);
}
