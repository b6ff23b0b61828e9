import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { SourceKind } from "../../charts/source/credentials/index.ts";
import type { DeploymentContent } from "../content/index.ts";
import { plainContent } from "../content/testing/index.ts";
import { formatObjectRef, parseObjectRef } from "../fleet/index.ts";
import { packClusterInfo, unpackClusterInfo } from "./cluster-info.ts";
import {
  formatUsed,
  packReferencedObject,
  parseUsed,
  type ReferencedObjectData,
  unpackReferencedObject,
  usedBy,
} from "./referenced-object.ts";

const ref = { kind: "Secret", name: "source" } as const;
const object: ReferencedObjectData = {
  type: "Opaque",
  data: { password: "aHVudGVyMg==" },
  labels: { team: "a" },
};

describe("a referenced object", () => {
  test("is unchanged by encoding and decoding", async () => {
    assert.deepEqual(await unpackReferencedObject(ref, await packReferencedObject(object)), object);
  });

  test("has a digest that does not depend on the order of its fields", async () => {
    const { digest } = await packReferencedObject({
      labels: { team: "a" },
      type: "Opaque",
      data: object.data ?? {},
    });

    assert.equal(digest, (await packReferencedObject(object)).digest);
    assert.notEqual(digest, (await packReferencedObject({ ...object, type: "other" })).digest);
  });

  test("is rejected with another digest, and the error has none of its data", async () => {
    const { bytes } = await packReferencedObject(object);

    await assert.rejects(
      unpackReferencedObject(ref, { digest: "sha256:0", bytes }),
      (thrown: Error) => {
        assert.match(
          thrown.message,
          /^invalid Secret source from the hub: digest mismatch: the bytes have sha256:[0-9a-f]{64}$/,
        );
        return true;
      },
    );
  });

  test("is referenced by kind and name", () => {
    assert.equal(formatObjectRef(ref), "Secret/source");
    assert.deepEqual(parseObjectRef("Secret/source"), ref);
    for (const key of ["Secret/", "Pod/a", "source", ""]) {
      assert.equal(parseObjectRef(key), undefined, key);
    }
  });

  const sourceOf = <K extends SourceKind>(kind: K, url: string) => ({
    ...{ kind, url, secret: "apps/login" },
  });
  const certificates = "ca.crt,caFile,certFile,keyFile,tls.crt,tls.key";

  const uses: readonly (readonly [
    what: string,
    content: Partial<DeploymentContent>,
    expected: readonly string[],
  ])[] = [
    [
      "the keys of a repository's login",
      { access: { source: sourceOf("HelmRepository", "https://charts.example.com") } },
      [
        `Secret/apps/login#${certificates.replace("tls.crt,tls.key", "password,tls.crt,tls.key,username")}`,
      ],
    ],
    [
      "no certificates beside those of certSecretRef",
      {
        access: {
          source: {
            ...sourceOf("HelmRepository", "https://a.example.com"),
            certSecret: "apps/tls",
          },
        },
      },
      ["Secret/apps/login#password,username", `Secret/apps/tls#${certificates}`],
    ],
    [
      "a registry's login",
      { access: { source: sourceOf("OCIRepository", "oci://registry.example.com/web") } },
      ["Secret/apps/login#.dockerconfigjson"],
    ],
    [
      "a bucket's keys and a proxy",
      {
        access: {
          source: { ...sourceOf("Bucket", "https://s3.example.com"), proxySecret: "apps/proxy" },
        },
      },
      ["Secret/apps/login#accesskey,secretkey", "Secret/apps/proxy#address,password,username"],
    ],
    [
      "the keys of valuesFrom",
      {
        access: {},
        hubValues: [
          { kind: "Secret", name: "apps/payroll", key: "values.yaml" },
          { kind: "Secret", name: "apps/payroll", key: "extra" },
          { kind: "ConfigMap", name: "apps/defaults", key: "values.yaml" },
        ],
      },
      ["ConfigMap/apps/defaults#values.yaml", "Secret/apps/payroll#extra,values.yaml"],
    ],
    [
      "no key of valuesFrom that the content has itself",
      {
        access: {},
        hubValues: [
          { kind: "Secret", name: "apps/payroll", key: "values.yaml", object: {}, salt: "x" },
          { kind: "Secret", name: "apps/payroll", key: "extra" },
        ],
      },
      ["Secret/apps/payroll#extra"],
    ],
    [
      "a copied object, whatever else uses it",
      {
        access: {},
        copies: [{ kind: "Secret", name: "payroll" }],
        hubValues: [{ kind: "Secret", name: "payroll", key: "values.yaml" }],
      },
      ["Secret/payroll"],
    ],
    [
      "no other object by a name or a key that none can have",
      {
        access: {},
        hubValues: [{ kind: "Secret", name: "apps/payroll#all", key: "a,b#c" }],
      },
      ["Secret/apps/payroll%23all#a%2Cb%23c"],
    ],
  ];
  for (const [what, content, expected] of uses)
    test(`is used by its content as ${what}`, () => {
      const used = usedBy({ ...plainContent, ...content });

      assert.deepEqual(formatUsed(used), expected);
      assert.deepEqual(parseUsed(formatUsed(used)), new Map([...used].toSorted()));
    });

  test("cluster info is unchanged by encoding and decoding", async () => {
    const info = {
      namespace: "fleet-default",
      name: "paris",
      labels: { region: "eu" },
      annotations: {},
      templateValues: { size: 3 },
    };

    assert.deepEqual(await unpackClusterInfo(await packClusterInfo(info)), info);
  });
});
