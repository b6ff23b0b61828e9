/** Which of the labels that an agent asks for its Cluster gets. Pure. */

/** Labels under these decide what a cluster is sent or who manages it: an agent cannot give them to itself. */
const reservedDomains = ["fleet.cattle.io", "management.cattle.io", "flotilla.dev"];

export function cleanLabels(
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !isReserved(name)));
}

function isReserved(name: string): boolean {
  const domain = name.slice(0, Math.max(0, name.indexOf("/")));
  return reservedDomains.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
}
