/** What the HelmReleases of the documents install: their documents, as the charts read them. */

export interface ExpectedRelease {
  /** `namespace/name` of the release; the release of the HelmRelease's own name and namespace when absent. */
  readonly release?: string;
  /** The cluster of the workspace; absent: the hub's own. */
  readonly cluster?: "east";
  /** The version of the chart, with what Flux adds to it. */
  readonly version: RegExp;
  /** What the chart was rendered with. */
  readonly values: unknown;
}

const tug = { version: /^0\.9\.4\+1$/, values: { power: 100, size: "small" } };
const buoy = { version: /^1\.4\.0\+[0-9a-f]{12}$/, values: {} };
const newestBuoy = { version: /^2\.0\.0\+[0-9a-f]{12}$/, values: {} };

/** By the name of the HelmRelease. */
export const expectedReleases: Readonly<Record<string, ExpectedRelease>> = {
  lighthouse: {
    release: "harbour/lighthouse",
    version: /^4\.2\.0$/,
    values: { replicas: 2, beam: { colour: "white", seconds: 12 } },
  },
  "tug-east": tug,
  gangway: tug,
  "remote-ferry": { ...tug, cluster: "east" },
  "fleet-ferry": { ...tug, cluster: "east" },
  pier: {
    version: tug.version,
    values: {
      ...tug.values,
      replicas: 3,
      database: { password: "{a,b}" },
      ingress: { hosts: [{ certificate: "certificate" }] },
    },
  },
  passengers: { version: /^1\.0\.0$/, values: {} },
  ferry: { version: /^2\.1\.3$/, values: {} },
  buoy,
  "buoy-pinned": { version: /^1\.3\.0\+[0-9a-f]{12}$/, values: {} },
  "buoy-shared": newestBuoy,
  mesh: newestBuoy,
  dredger: { version: /^0\.3\.0$/, values: { depth: 12 } },
  crane: { version: /^1\.4\.0\+[0-9a-f]{12}\.1$/, values: { colour: "red", height: 80 } },
  dock: { version: /^1\.10\.0\+1$/, values: { places: 4, harbour: "east" } },
};
