import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { exactObjects, ownedObjects, readYamlDocument } from "./manifest.ts";

const config = { apiVersion: "v1", kind: "ConfigMap", name: "web" };

const cases: readonly (readonly [string, string, readonly object[]])[] = [
  ["an empty manifest", "", []],
  ["only comments", "---\n# Source: web/templates/empty.yaml\n---\n", []],
  [
    "several documents",
    [
      "---",
      "# Source: web/templates/a.yaml",
      "apiVersion: v1",
      "kind: ConfigMap",
      "metadata:",
      "  name: web",
      "data:",
      "  kind: Secret",
      "--- # another",
      "apiVersion: apps/v1",
      "kind: Deployment",
      "metadata:",
      "  namespace: elsewhere",
      "  labels:",
      "    name: other",
      "  name: web",
      "spec: {}",
      "",
    ].join("\n"),
    [config, { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "elsewhere" }],
  ],
  [
    "fields in another order, and metadata in one line",
    "metadata: {name: web, namespace: ''}\nkind: ConfigMap\napiVersion: v1\n",
    [config],
  ],
  [
    "a Job that Kubernetes deletes when it has ended, and one that it keeps",
    [
      ...["apiVersion: batch/v1", "kind: Job", "metadata: {name: once}"],
      ...["spec:", "  ttlSecondsAfterFinished: 60", "---"],
      ...["apiVersion: batch/v1", "kind: Job", "metadata: {name: kept}"],
      ...["spec: {backoffLimit: 0} # no ttlSecondsAfterFinished", ""],
    ].join("\n"),
    [
      { apiVersion: "batch/v1", kind: "Job", name: "once", isDeletedWhenEnded: true },
      { apiVersion: "batch/v1", kind: "Job", name: "kept" },
    ],
  ],
  [
    "a bootstrap token with its expiration, in both forms, and other Secrets",
    [
      ...["apiVersion: v1", "kind: Secret", "metadata: {name: text}"],
      ...["type: bootstrap.kubernetes.io/token", 'stringData: {expiration: "2026-01-01"}', "---"],
      ...["apiVersion: v1", "kind: Secret", "metadata: {name: encoded}"],
      ...["type: bootstrap.kubernetes.io/token", "data: {expiration: MjAyNi0wMS0wMQ==}", "---"],
      ...["apiVersion: v1", "kind: Secret", "metadata: {name: kept}"],
      ...["type: bootstrap.kubernetes.io/token", "data:", "---"],
      ...["apiVersion: v1", "kind: Secret", "metadata: {name: other}"],
      ...["type: Opaque # not bootstrap.kubernetes.io/token", "stringData: {expiration: a}", ""],
    ].join("\n"),
    [
      { apiVersion: "v1", kind: "Secret", name: "text", expiresAt: "2026-01-01" },
      { apiVersion: "v1", kind: "Secret", name: "encoded", expiresAt: "2026-01-01" },
      { apiVersion: "v1", kind: "Secret", name: "kept" },
      { apiVersion: "v1", kind: "Secret", name: "other" },
    ],
  ],
  [
    "a signing request, and one of another group",
    ["certificates.k8s.io/v1", "example.com/v1"]
      .map(
        (version) =>
          `apiVersion: ${version}\nkind: CertificateSigningRequest\nmetadata: {name: web}\n`,
      )
      .join("---\n"),
    [
      {
        ...{ apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" },
        ...{ name: "web", isDeletedWhenEnded: true },
      },
      { apiVersion: "example.com/v1", kind: "CertificateSigningRequest", name: "web" },
    ],
  ],
  ["JSON", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}}\n', [config]],
  ["quoted keys", '"apiVersion": v1\n"kind": ConfigMap\n"metadata":\n  "name": web\n', [config]],
  [
    "a list",
    "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: web\n",
    [config],
  ],
  [
    "a kind whose name ends in List",
    "apiVersion: example.com/v1\nkind: AllowList\nmetadata:\n  name: web\n",
    [{ apiVersion: "example.com/v1", kind: "AllowList", name: "web" }],
  ],
  [
    "a string with a document separator",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  text: |\n    ---\n    kind: Secret\n",
    [config],
  ],
  [
    "an alias to another field",
    "apiVersion: v1\nkind: ConfigMap\ndata: &labels\n  a: b\nmetadata:\n  name: web\n  labels: *labels\n",
    [config],
  ],
  ["CRLF line ends", "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: web\r\n", [config]],
  [
    "a manifest with an invalid document",
    "kind: [\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n",
    [config],
  ],
  [
    "no object whose apiVersion would change the path of a request",
    [
      "../api/v1/namespaces/a/secrets",
      "apps/v1/deployments",
      "apps/v1?watch=1",
      "..",
      "apps/..",
      "../v1",
      "v1%2f",
    ]
      .map((version) => `apiVersion: "${version}"\nkind: ConfigMap\nmetadata:\n  name: web\n`)
      .join("---\n"),
    [],
  ],
  ["no object without a name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", []],
];

describe("the objects of a manifest are read from", () => {
  for (const [name, manifest, expected] of cases) {
    test(name, () => assert.deepEqual(ownedObjects(manifest, readYamlDocument), expected));
  }
});

test("blank lines and comments before an object are read in a time that grows with their number", () => {
  const blank = "\n".repeat(100_000);

  assert.deepEqual(exactObjects(`${blank}#\n${blank}nothing`, readYamlDocument), undefined);
  assert.deepEqual(exactObjects(`${blank}#\n${blank}`, readYamlDocument), []);
});
