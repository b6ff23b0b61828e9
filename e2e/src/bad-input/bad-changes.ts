/** Changes of a deployed HelmOp that are not accepted, and the message of each. None of them changes the deployment. */
import type { BadInputFleet, Change } from "./bad-input-fleet.ts";

export interface BadChange {
  /** The HelmOp's name too. */
  readonly name: string;
  readonly what: string;
  readonly change: Change;
  /** The whole message of Accepted, except for times. */
  readonly message: RegExp;
}

export function badChanges(fixture: BadInputFleet): readonly BadChange[] {
  const { faulty, closedPort, oci, password } = fixture;
  const repo = fixture.charts.url;
  const atRepo = (url: string): Change => ({ helm: { repo: url } });
  const atOci = (path: string, version = "1.0.0"): Change => ({
    helm: { repo: `${oci}/${path}`, chart: null, version },
  });
  const retrying = /; retrying at [-0-9T:]+Z$/.source;
  const fromIndex = (fault: string, rest: string) =>
    new RegExp(
      `^could not get a chart version: GET ${escaped(faulty.at(fault))}/index\\.yaml: ${rest}${retrying}`,
    );
  return [
    {
      name: "constraint",
      what: "a constraint that is invalid",
      change: { helm: { version: ">=1.x.y!!" } },
      message:
        /^could not get a chart version: improper constraint: >=1\.x\.y!!: .+; write for example "\^1\.2"/,
    },
    {
      name: "chart",
      what: "a chart that the index does not have",
      change: { helm: { chart: "wbe" } },
      message: new RegExp(
        `^could not get a chart version: no chart named wbe found: GET ${escaped(repo)}/index\\.yaml lists 7 charts, those with a similar name are web${retrying}`,
      ),
    },
    {
      name: "version",
      what: "a version that nothing matches",
      change: { helm: { version: ">=9" } },
      message: new RegExp(
        `^could not get a chart version: no chart version found for web->=9: GET ${escaped(repo)}/index\\.yaml lists 2 versions, the highest are 1\\.1\\.0-rc\\.1, 1\\.0\\.0${retrying}`,
      ),
    },
    {
      name: "dependency",
      what: "a state to wait for that does not exist",
      change: { dependsOn: [{ name: "db", acceptedStates: ["ready"] }] },
      message: /^spec\.dependsOn\[0\]\.acceptedStates has "ready", which is none of ErrApplied, /,
    },
    {
      name: "selector",
      what: "a selector that is invalid",
      change: {
        targets: [{ clusterSelector: { matchExpressions: [{ key: "env", operator: "In" }] } }],
      },
      message:
        /^spec\.targets\[0\]\.clusterSelector cannot be used: In for the label env has no values to compare with$/,
    },
    {
      name: "target",
      what: "a target whose chart and repository contradict each other",
      change: {
        targets: [{ clusterSelector: {}, helm: { repo: `${oci}/charts/web` } }],
      },
      message:
        /^spec\.targets\[0\], with what it takes from spec\.helm: helm\.repo is an OCI repository, so helm\.chart must be empty/,
    },
    {
      name: "password",
      what: "a password in the address",
      change: atRepo(faulty.at("page").replace("//", `//user:${password}@`)),
      message:
        /^helm\.repo holds a user name or a password: put them into the Secret that helmSecretName names$/,
    },
    {
      name: "token",
      what: "an address with an invalid token",
      change: atRepo(`${faulty.at("unauthorized")}?token=${password}`),
      message:
        /index\.yaml\?…: error code: 401 Unauthorized; no credentials are set: set helmSecretName to a Secret that has credentials for this host; retrying at /,
    },
    {
      name: "host",
      what: "a host that does not resolve",
      change: atRepo("http://charts.invalid/stable"),
      message: new RegExp(
        `^could not get a chart version: GET http://charts\\.invalid/stable/index\\.yaml: (no such host|the name service gave no answer)${retrying}`,
      ),
    },
    {
      name: "closed-port",
      what: "a port where nothing listens",
      change: atRepo(`http://127.0.0.1:${closedPort}`),
      message: new RegExp(
        `^could not get a chart version: GET http://127\\.0\\.0\\.1:${closedPort}/index\\.yaml: connection refused${retrying}`,
      ),
    },
    {
      name: "unauthorized",
      what: "an answer of 401",
      change: atRepo(faulty.at("unauthorized")),
      message: fromIndex(
        "unauthorized",
        "error code: 401 Unauthorized; no credentials are set: set helmSecretName to a Secret that has credentials for this host",
      ),
    },
    {
      name: "missing",
      what: "an answer of 404",
      change: atRepo(faulty.at("missing")),
      message: fromIndex("missing", "error code: 404 Not Found"),
    },
    {
      name: "broken",
      what: "an answer of 500",
      change: atRepo(faulty.at("broken")),
      message: fromIndex("broken", "error code: 500 Internal Server Error"),
    },
    {
      name: "garbage",
      what: "an index that is not YAML",
      change: atRepo(faulty.at("garbage")),
      message: fromIndex("garbage", "invalid index: it is not YAML: .+"),
    },
    {
      name: "page",
      what: "a web page instead of an index",
      change: atRepo(faulty.at("page")),
      message: fromIndex(
        "page",
        "invalid index: it is a web page, not the index of a Helm repository",
      ),
    },
    {
      name: "list",
      what: "YAML that is not an index",
      change: atRepo(faulty.at("list")),
      message: fromIndex("list", "invalid index: it is a list, not the index of a Helm repository"),
    },
    {
      name: "truncated",
      what: "an index that is truncated within a version",
      change: atRepo(faulty.at("truncated")),
      message: fromIndex("truncated", "invalid index: it is not YAML: .+"),
    },
    {
      name: "truncated-urls",
      what: "an index that is truncated before an address",
      change: atRepo(faulty.at("truncated-urls")),
      message: fromIndex("truncated-urls", ".+"),
    },
    {
      name: "tag",
      what: "a tag that the OCI repository does not have",
      change: atOci("charts/web", "9.9.9"),
      message: new RegExp(
        `^could not get a chart version: no chart version found for ${escaped(oci)}/charts/web:9\\.9\\.9: the registry lists one tag, 1\\.0\\.0${retrying}`,
      ),
    },
    {
      name: "repository",
      what: "a repository that the registry does not have",
      change: atOci("charts/wbe"),
      message: new RegExp(
        `^could not get a chart version: repository ${escaped(oci)}/charts/wbe not found in the registry: GET .+: error code: 404 Not Found .+${retrying}`,
      ),
    },
    {
      name: "artifact",
      what: "an OCI artifact that is not a chart",
      change: atOci("plain/thing"),
      message: new RegExp(
        `^could not get a chart version: GET .+/v2/plain/thing/manifests/1\\.0\\.0: ${escaped(oci)}/plain/thing:1\\.0\\.0 is an artifact without a chart, not a Helm chart${retrying}`,
      ),
    },
  ];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
