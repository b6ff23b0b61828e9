/** What a HelmOp that runs is changed to, and what it says then. Each leaves what is deployed as it is. */

import type { World } from "./bad-input-fleet.ts";
import type { Change } from "./observed.ts";

export interface BadChange {
  /** The HelmOp's name too. */
  readonly name: string;
  readonly what: string;
  readonly change: Change;
  /** Accepted's whole message, but for times. */
  readonly says: RegExp;
}

export function badChanges(world: World): readonly BadChange[] {
  const { odd, closedPort, oci, password } = world;
  const repo = world.charts.url;
  const atRepo = (url: string): Change => ({ helm: { repo: url } });
  const atOci = (path: string, version = "1.0.0"): Change => ({
    helm: { repo: `${oci}/${path}`, chart: null, version },
  });
  const again = /; retrying at [-0-9T:]+Z$/.source;
  const fromIndex = (way: string, rest: string) =>
    new RegExp(
      `^could not get a chart version: GET ${escaped(odd.at(way))}/index\\.yaml: ${rest}${again}`,
    );
  return [
    {
      name: "constraint",
      what: "a constraint that is none",
      change: { helm: { version: ">=1.x.y!!" } },
      says: /^could not get a chart version: improper constraint ">=1\.x\.y!!": .+; write for example "\^1\.2"/,
    },
    {
      name: "chart",
      what: "a chart that the index does not have",
      change: { helm: { chart: "wbe" } },
      says: new RegExp(
        `^could not get a chart version: no chart named wbe found: GET ${escaped(repo)}/index\\.yaml lists 7 charts, those with a similar name are web${again}`,
      ),
    },
    {
      name: "version",
      what: "a version that nothing matches",
      change: { helm: { version: ">=9" } },
      says: new RegExp(
        `^could not get a chart version: no chart version found for web->=9: GET ${escaped(repo)}/index\\.yaml lists 2 versions, the highest are 1\\.1\\.0-rc\\.1, 1\\.0\\.0${again}`,
      ),
    },
    {
      name: "dependency",
      what: "a state to wait for that there is not",
      change: { dependsOn: [{ name: "db", acceptedStates: ["ready"] }] },
      says: /^spec\.dependsOn\[0\]\.acceptedStates has "ready", which is none of ErrApplied, /,
    },
    {
      name: "selector",
      what: "a selector that means nothing",
      change: {
        targets: [{ clusterSelector: { matchExpressions: [{ key: "env", operator: "In" }] } }],
      },
      says: /^spec\.targets\[0\]\.clusterSelector cannot be used: In for the label env has no values to compare with$/,
    },
    {
      name: "target",
      what: "a target whose chart and repository do not go together",
      change: {
        targets: [{ clusterSelector: {}, helm: { repo: `${oci}/charts/web` } }],
      },
      says: /^spec\.targets\[0\], with what it takes from spec\.helm: helm\.repo is an OCI repository, so helm\.chart must be empty/,
    },
    {
      name: "password",
      what: "a password in the address",
      change: atRepo(odd.at("page").replace("//", `//user:${password}@`)),
      says: /^helm\.repo holds a user name or a password: put them into the Secret that helmSecretName names$/,
    },
    {
      name: "token",
      what: "an address with a token that is not good",
      change: atRepo(`${odd.at("unauthorized")}?token=${password}`),
      says: /index\.yaml\?…: 401 Unauthorized \(who are you\?\); no credentials are set: set helmSecretName to a Secret that has credentials for this host; retrying at /,
    },
    {
      name: "host",
      what: "a host that does not resolve",
      change: atRepo("http://charts.invalid/stable"),
      says: new RegExp(
        `^could not get a chart version: GET http://charts\\.invalid/stable/index\\.yaml: (no such host|the name service gave no answer)${again}`,
      ),
    },
    {
      name: "refused",
      what: "a host that refuses the connection",
      change: atRepo(`http://127.0.0.1:${closedPort}`),
      says: new RegExp(
        `^could not get a chart version: GET http://127\\.0\\.0\\.1:${closedPort}/index\\.yaml: connection refused${again}`,
      ),
    },
    {
      name: "unauthorized",
      what: "an answer of 401",
      change: atRepo(odd.at("unauthorized")),
      says: fromIndex(
        "unauthorized",
        "401 Unauthorized \\(who are you\\?\\); no credentials are set: set helmSecretName to a Secret that has credentials for this host",
      ),
    },
    {
      name: "missing",
      what: "an answer of 404",
      change: atRepo(odd.at("missing")),
      says: fromIndex("missing", "404 Not Found"),
    },
    {
      name: "broken",
      what: "an answer of 500",
      change: atRepo(odd.at("broken")),
      says: fromIndex("broken", "500 Internal Server Error"),
    },
    {
      name: "garbage",
      what: "an index that is no YAML",
      change: atRepo(odd.at("garbage")),
      says: fromIndex("garbage", "invalid index: it is not YAML: .+"),
    },
    {
      name: "page",
      what: "a web page for an index",
      change: atRepo(odd.at("page")),
      says: fromIndex(
        "page",
        "invalid index: it is a web page, not the index of a Helm repository",
      ),
    },
    {
      name: "list",
      what: "YAML for an index that is none",
      change: atRepo(odd.at("list")),
      says: fromIndex("list", "invalid index: it is a list, not the index of a Helm repository"),
    },
    {
      name: "cut",
      what: "an index that is cut off within a version",
      change: atRepo(odd.at("cut")),
      says: fromIndex("cut", "invalid index: it is not YAML: .+"),
    },
    {
      name: "cut-address",
      what: "an index that is cut off before an address",
      change: atRepo(odd.at("cut-address")),
      says: fromIndex("cut-address", ".+"),
    },
    {
      name: "tag",
      what: "a tag that the OCI repository does not have",
      change: atOci("charts/web", "9.9.9"),
      says: new RegExp(
        `^could not get a chart version: no chart version found for ${escaped(oci)}/charts/web:9\\.9\\.9: the registry lists one tag, 1\\.0\\.0${again}`,
      ),
    },
    {
      name: "repository",
      what: "a repository that the registry does not have",
      change: atOci("charts/wbe"),
      says: new RegExp(
        `^could not get a chart version: repository ${escaped(oci)}/charts/wbe not found in the registry: GET .+: 404 Not Found .+${again}`,
      ),
    },
    {
      name: "artifact",
      what: "an OCI artifact that is no chart",
      change: atOci("plain/thing"),
      says: new RegExp(
        `^could not get a chart version: GET .+/v2/plain/thing/manifests/1\\.0\\.0: ${escaped(oci)}/plain/thing:1\\.0\\.0 is an artifact without a chart, not a Helm chart${again}`,
      ),
    },
  ];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
